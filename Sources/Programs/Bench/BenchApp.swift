package import AdapterKit
import BrazeAdapter
import InfobipAdapter
package import JOSE
import Keyring
import OneSignalAdapter

/// The app whose tokens are made in a measurement: one for each algorithm that matters.
package struct BenchApp: Sendable {
    package let adapter: any Adapter
    /// `apps.*.settings` of the same.
    package let settings: String
    /// The report that the SDK sends for a user.
    package let report: @Sendable (_ user: String) -> String

    package var algorithm: Algorithm { adapter.algorithm }
    /// Returns the name of app `number`, and of its key ring. For any number of apps, their names have the same length,
    /// so that the cost of an event differs by their number alone.
    package func name(of number: Int) -> String {
        let digits = String(number)
        return "\(adapter.name)-\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    }

    /// - Throws: `BenchFailed` for an algorithm that no app here is for.
    package init(_ name: String) throws {
        switch Algorithm(rawValue: name.uppercased()) {
        case .rs256:
            adapter = try BrazeAdapter(settings: .init())
            settings = "{}"
            report = { #"{"code":22,"reason":"expired","userId":"\#($0)"}"# }
        case .es256:
            let id = "0f0f0f0f-1111-2222-3333-444444444444"
            adapter = try OneSignalAdapter(settings: .init(appID: id))
            settings = #"{"app_id":"\#(id)"}"#
            report = { #"{"externalId":"\#($0)"}"# }
        case .hs256:
            adapter = try InfobipAdapter(settings: .init(applicationCode: "bench"))
            settings = #"{"application_code":"bench"}"#
            report = { #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#($0)"}"# }
        default:
            throw BenchFailed("--algorithm is RS256 (Braze), ES256 (OneSignal) or HS256 (Infobip), not \(name)")
        }
    }

    /// An app of `adapter`, for tokens alone.
    package init(minting adapter: any Adapter) {
        self.adapter = adapter
        settings = "{}"
        report = { _ in "{}" }
    }

    /// Returns a new key of the app's kind.
    package func generateKey() throws -> SigningKey {
        try KeyGeneration.key(algorithm, encoding: adapter.secretEncoding, rsaBits: 2048, id: "bench-1")
    }
}

/// A measurement that came to nothing.
package struct BenchFailed: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
