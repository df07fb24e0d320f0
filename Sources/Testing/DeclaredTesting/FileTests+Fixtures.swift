package import AdapterKit
package import AdapterTestKit
package import DeclaredAdapters
import Foundation

extension FileTests {
    /// Returns the tests as the fixtures of a compiled adapter, for the conformance suite, the demonstration and the
    /// measurements.
    ///
    /// - Throws: `Rejection` that names a report and its missing member.
    package func fixtures() throws(Rejection) -> AdapterFixtures {
        var reports: [ReportFixture] = []
        for report in self.reports { reports.append(try ReportFixture(name: report.name, parsing: report.json)) }
        return AdapterFixtures(
            apps: apps.map { app in
                AdapterFixtures.App(
                    name: app.name, settings: app.settings, reissue: app.reissue, vouched: app.vouched)
            },
            reports: reports,
            verdicts: Dictionary(verdicts.map { ($0.name, $0.verdict) }) { first, _ in first })
    }
}

extension FileTests.Key {
    /// Returns the key, for `algorithm`.
    ///
    /// - Throws: `JOSEError`.
    package func signingKey(_ algorithm: Algorithm, id: String) throws(JOSEError) -> SigningKey {
        switch self {
        case .secret(let text, let encoding):
            let secret = try encoding.decode(SecretBytes(copying: text.utf8))
            return try SigningKey(secret: secret, algorithm: algorithm, keyID: id)
        case .pem(let text):
            return try SigningKey(pem: SecretBytes(copying: text.utf8), algorithm: algorithm, keyID: id)
        }
    }
}

extension DeclaredVendor {
    /// Returns the adapter of an app with `settings`, a JSON object.
    ///
    /// - Throws: the error of the settings.
    package func adapter(settings: [UInt8]) throws -> any Adapter {
        let decoder = JSONDecoder()
        decoder.userInfo = ConfiguredAdapter.userInfo(for: registration)
        return try decoder.decode(ConfiguredAdapter.self, from: Data(settings)).adapter
    }
}

/// Ids that a test names.
package struct FixedIDs: RandomNumberGenerator, Sendable {
    private let words: (high: UInt64, low: UInt64)
    private var isLow = false

    /// Ids that all are `uuid`, a version 4 one; nil where it is none.
    package init?(_ uuid: String) {
        guard let words = UUIDText.words(of: uuid) else { return nil }
        self.words = words
    }

    package mutating func next() -> UInt64 {
        defer { isLow.toggle() }
        return isLow ? words.low : words.high
    }
}
