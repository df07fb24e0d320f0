import AdapterKit
import Testing
import WorkerConfiguration

/// A configuration of one app that asks. The keys of its look-up stand from line 9 on, a line each, from column 7.
enum LookupText {
    static let registry = AdapterRegistry([
        .init(AskingAdapter<Keyed>.self), .init(AskingAdapter<Twin>.self), .init(AskingAdapter<Roomy>.self),
        .init(AskingAdapter<Basic>.self),
        .init(AskingAdapter<Minted>.self), .init(AskingAdapter<Mute>.self),
    ])

    static let keyed = ["mode: verify", "endpoint: https://rest.keyed.example", "key: hunter2-key"]
    static let basic = ["mode: verify", "username: hunter2-name", "password: hunter2-word"]

    /// The app `shop`, whose vendor takes a key, with these lines under `lookup`.
    static func app(_ lines: [String]) -> ConfigurationFile { app("keyed", lines) }

    /// The app `shop` of `adapter`, with these lines under `lookup`.
    static func app(_ adapter: String, settings: String = "{}", _ lines: [String]) -> ConfigurationFile {
        apps(
            """
              shop:
                adapter: \(adapter)
                settings: \(settings)
                lookup:
            \(lines.map { "      \($0)" }.joined(separator: "\n"))
                key: k

            """)
    }

    /// A file of `apps`, which begin in line 5.
    static func apps(_ apps: String) -> ConfigurationFile {
        var file = ConfigurationFile(
            """
            kafka:
              bootstrap_servers: 127.0.0.1:9092
            keys: { k: { path: k } }
            apps:
            \(apps)
            """)
        file.adapters = registry
        return file
    }
}

extension ConfigurationFile {
    /// The file with this environment and these files beside it.
    func with(environment: [String: String] = [:], files: [String: String] = [:]) -> ConfigurationFile {
        var file = self
        file.environment = environment
        file.files = files
        return file
    }

    /// The look-up of the first app, which must have one.
    func lookup() throws -> Configuration.Lookup { try #require(try configuration().apps.first?.lookup) }

    /// The warnings.
    func warnings() -> [String] { read().diagnostics.filter { $0.severity == .warning }.map(\.description) }
}
