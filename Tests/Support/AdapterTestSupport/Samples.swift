package import AdapterKit
package import AdapterStubs
import Foundation
@_spi(Signing) import JOSE

/// The moment at which the vendors' samples are made.
package let now = UnixTime(seconds: 1_800_000_000)

/// An adapter made from settings as a configuration has them.
package func makeAdapter<Type: Adapter>(_ type: Type.Type, _ settings: String) throws -> any Adapter {
    let registration = AdapterRegistry.Registration(type)
    let decoder = JSONDecoder()
    decoder.userInfo = ConfiguredAdapter.userInfo(for: registration)
    return try decoder.decode(ConfiguredAdapter.self, from: Data(settings.utf8)).adapter
}

/// A look-up adapter made from settings as a configuration has them.
package func makeAdapter<Type: StubbedAdapter>(_ type: Type.Type, _ settings: String) throws -> any StubbedAdapter {
    let registration = AdapterRegistry.Registration(type)
    let decoder = JSONDecoder()
    decoder.userInfo = ConfiguredAdapter.userInfo(for: registration)
    let adapter = try decoder.decode(ConfiguredAdapter.self, from: Data(settings.utf8)).adapter
    guard let stubbed = adapter as? any StubbedAdapter else { throw SettingsError("", "the adapter has no stub") }
    return stubbed
}

extension Adapter {
    /// Returns the meaning of a report observed now, in the words of the fixtures: `mint EXPIRED app/u-1001`, or the
    /// error code.
    package func summary(of report: String) throws -> String {
        switch try reading(of: report) {
        case .rejected(let rejection): return rejection.code.rawValue
        case .failure(let failure):
            let subject = failure.subject.map { " " + String(decoding: $0.key(app: "app"), as: UTF8.self) } ?? ""
            return "\(failure.remedy.name) \(failure.reason)\(subject)"
        }
    }

    package func reading(of report: String) throws -> Reading {
        reading(of: Report(try JSONDocument(parsing: Array(report.utf8)).root, observedAt: now))
    }

    /// The header and the claims of a token for `subject` made now with the standard lifetime.
    package func parts(for subject: Subject, keyID: String? = nil) throws -> (header: String, claims: String) {
        let recipe = recipe(for: subject)
        var random = FixedGenerator()
        let life = Validity(from: now.seconds, to: now.seconds + recipe.lifetime.standard)
        let claims = try TokenForm(recipe, keyID: keyID, valid: life).claims(for: subject, random: &random)
        let header = try Base64.url.decode(recipe.encodedHeader(keyID: keyID)[...])
        return (String(decoding: header, as: UTF8.self), String(decoding: claims, as: UTF8.self))
    }

    /// A token for `subject` made now with the standard lifetime.
    package func token(for subject: Subject, key: SigningKey) throws -> [UInt8] {
        let (header, claims) = try parts(for: subject, keyID: key.keyID)
        return try HandMade.token(header: header, claims: claims, key: key)
    }

    /// Returns the vendor's verdict on a token, in one line: `accepted`, or code and name.
    package func verdict(
        on token: [UInt8], keys: [SigningKey], expecting subject: Subject, at time: UnixTime = now
    ) -> String {
        switch verify(token, against: keys.map(\.verificationKey), expecting: subject, at: time) {
        case .accepted: "accepted"
        case .refused(let code, let name): "\(code) \(name)"
        }
    }
}

/// Tokens with whatever header and claims a test wants, properly signed.
package enum HandMade {
    package static func token(header: String, claims: String, key: SigningKey) throws -> [UInt8] {
        let encoded = Array(Base64.url.encode(Array(header.utf8)).utf8)
        let input = SigningInput(encodedHeader: encoded, payload: Array(claims.utf8))
        return input.token(signature: try Signer(key).sign(input.bytes))
    }
}

extension SigningKey {
    package init(text: String, _ algorithm: Algorithm, keyID: String? = nil) throws {
        try self.init(secret: SecretBytes(copying: text.utf8), algorithm: algorithm, keyID: keyID)
    }
}

/// Not random at all, so that a UUID is known beforehand.
package struct FixedGenerator: RandomNumberGenerator {
    package init() {}

    package mutating func next() -> UInt64 { 0 }
}

/// A report and what it must mean, in the words of `Adapter.summary`.
package struct ReportSample: CustomStringConvertible {
    package let report: String
    package let summary: String

    package init(_ report: String, _ summary: String) {
        self.report = report
        self.summary = summary
    }

    package var description: String { report.count > 120 ? "\(report.prefix(120))…" : report }
}

/// Claims (or a header) and the vendor's verdict on a token with them.
package struct TokenSample: CustomStringConvertible {
    package let json: String
    package let verdict: String

    package init(_ json: String, _ verdict: String) {
        self.json = json
        self.verdict = verdict
    }

    package var description: String { json.count > 120 ? "\(json.prefix(120))…" : json }
}

/// A report of a quarter of a mebibyte, of a kind that is slow for whoever reads it more than once or by characters.
package struct LargeReport: CustomStringConvertible {
    package let name: String
    package let json: String

    package var description: String { name }

    /// Reports whose members `names` are in turn a row of flags, of escapes and of digits, and one of many members.
    package static func all(naming names: [String]) -> [LargeReport] {
        let values = [
            ("flags", "\"" + String(repeating: "\u{1F1E6}", count: 1 << 16) + "\""),
            ("escapes", "\"" + String(repeating: "\\u0041", count: 43_000) + "\""),
            ("digits", String(repeating: "9", count: 1 << 18)),
        ]
        let reports = names.flatMap { name in
            values.map { LargeReport(name: "\(name) of \($0.0)", json: #"{"\#(name)":\#($0.1)}"#) }
        }
        let members = (0..<16_000).map { #""\u0061\#($0)":\#($0)"# }.joined(separator: ",")
        return reports + [LargeReport(name: "many members", json: "{\(members)}")]
    }
}
