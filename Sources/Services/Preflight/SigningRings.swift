package import AdapterKit
package import Keyring
public import Signing
package import WorkerConfiguration

// Turns the file's words into those of the module that signs, which knows no configuration.

extension Configuration {
    /// The rings that are read from folders; none that a signer holds.
    package var watchedRings: [WatchedRing] {
        keys.compactMap { key in
            key.path.map { path in
                WatchedRing(
                    name: key.name, path: path, uses: apps.filter { $0.key == key.name }.map { RingUse($0) })
            }
        }
    }
}

extension Configuration.App {
    /// Returns the differences between the keys of `ring` and the kind of key that the app's vendor accepts.
    package func misfits(of ring: KeyRing) -> [Diagnostic] {
        let algorithm = adapter.algorithm.rawValue
        return RingUse(self).misfits(of: ring).map { misfit in
            guard misfit.isError else { return Diagnostic(.warning, at: keyPlace, misfit.message) }
            return Diagnostic(
                .error, at: keyPlace,
                "\(misfit.message); name a ring of \(algorithm) keys in apps.\(name).key, or correct the folder of the ring \(key)"
            )
        }
    }
}

extension RingUse {
    /// Makes the use of a ring by `app`.
    init(_ app: Configuration.App) {
        self.init(
            vendor: app.adapter.vendor, algorithm: app.adapter.algorithm, secretEncoding: app.adapter.secretEncoding)
    }
}

extension SigningPolicy {
    /// Makes the limits of `keys.*.policy` on the tokens of `apps`.
    init(_ policy: Configuration.SigningPolicy, for apps: [Configuration.App]) {
        self.init(
            apps.map { TokenTemplate($0.adapter, lifetime: $0.lifetime) }, algorithms: policy.algorithms,
            longestLife: policy.longestLife, issuer: policy.issuer)
    }
}

extension Preflight {
    /// The loaded rings as a signer serves them, each with its policy.
    public var servedRings: [ServedRing] {
        guard let configuration else { return [] }
        let policies = Dictionary(configuration.keys.map { ($0.name, $0.policy) }) { first, _ in first }
        return configuration.watchedRings.compactMap { folder in
            guard let ring = rings[folder.name], let policy = policies[folder.name] else { return nil }
            let apps = configuration.apps.filter { $0.key == folder.name }
            return ServedRing(ring, in: folder, policy: SigningPolicy(policy, for: apps))
        }
    }
}

package struct AppSigning: Sendable, Equatable {
    package let app: String
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
                "the app \(app) cannot sign: the key ring \(ring) has no active version; promote one: \(RemintCommand("rotate promote", ring: ring, "--key-version", "ID", "--now"))"
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
