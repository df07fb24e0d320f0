package import AdapterKit
import Keyring
package import WorkerConfiguration

/// An app with the key that signs its tokens.
package struct AppSigning: Sendable, Equatable {
    /// The app's name.
    package let app: String
    /// The app's key ring.
    package let ring: String
    /// The active version; nil where the ring has none.
    package let version: String?
    private let end: UnixTime?
    private let vendor: String
    /// The shortest lifetime that the vendor accepts, in seconds.
    private let shortestLife: Int64

    /// The app `app`, whose ring has the active version `version`, whose tokens end at `end` at the latest.
    package init(_ app: Configuration.App, version: String?, end: UnixTime?) {
        self.app = app.name
        ring = app.key
        self.version = version
        self.end = end
        vendor = app.adapter.vendor
        shortestLife = app.adapter.recipe(for: Subject(user: "")).lifetime.allowed.lowerBound
    }

    /// Returns the reason why no token of the app can be signed at `now`, with the command that fixes it; nil where one can.
    package func problem(at now: UnixTime) -> String? {
        guard let version else {
            return
                "the app \(app) cannot sign: the key ring \(ring) has no active version; promote one: \(RemintCommand("keys promote", ring: ring, "--now", "ID"))"
        }
        // The same comparison as for each token.
        guard let end, end < now.advanced(bySeconds: shortestLife) else { return nil }
        let time =
            end <= now
            ? "retired at \(end)"
            : "retires at \(end), and \(vendor) accepts no token of less than \(DurationText.format(seconds: shortestLife))"
        return
            "the app \(app) cannot sign: the version \(version) of the key ring \(ring) \(time); replace the key: \(RemintCommand("rotate prepare", ring: ring)), then: \(RemintCommand("rotate promote", ring: ring, "--now"))"
    }
}
