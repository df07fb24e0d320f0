package import AdapterKit
import Formats
import Keyring

/// The commands that lead from a first configuration to a first token. Each runs as it is printed.
package struct FirstSteps {
    private static let user = "u-42"

    /// The commands, in their order, with the purpose of each.
    package let steps: [(command: String, purpose: String)]

    /// The steps for `configuration`.
    ///
    /// - Parameters:
    ///   - adapter: the adapter of its app.
    ///   - keyFile: the file of the gateway's API key.
    package init(_ configuration: StarterConfiguration, adapter: any Adapter, keyFile: String) {
        let hasGateway = configuration.backend != nil
        let copies = configuration.copies.map { ["--replication", "\($0)"] } ?? []
        let first: (String, String) =
            configuration.isEmbedded
            ? ("\(RemintCommand("check"))", "finds every mistake")
            : ("\(RemintCommand("topics create", arguments: copies))", "makes the topics")
        let run = RemintCommand("run", arguments: hasGateway ? ["--with-pickup"] : [])
        let services = hasGateway ? "runs the worker and the gateway" : "runs the worker"
        let last =
            hasGateway
            ? Self.call(configuration, adapter, keyFile: keyFile) : Self.request(configuration, adapter)
        steps = [first, ("\(run)", "\(services); use a second terminal for the next command"), last]
    }

    /// The steps for an app that was added to a configuration.
    ///
    /// - Parameters:
    ///   - adapter: the adapter of the app.
    ///   - keyFile: the file of the gateway's API key; nil without a gateway.
    package init(adding configuration: StarterConfiguration, adapter: any Adapter, keyFile: String?) {
        let last =
            keyFile.map { Self.call(configuration, adapter, keyFile: $0) } ?? Self.request(configuration, adapter)
        steps = [("\(RemintCommand("check"))", "finds every mistake"), last]
    }

    /// The line that opens an added app to devices, in a configuration with a gateway.
    package static func opening(_ configuration: StarterConfiguration) -> String {
        "For devices' calls, add to pickup.apps: \(configuration.app): { issuer: ISSUER } with the issuer of your login's sessions"
    }

    /// The command that shows the first token; nil where the last step shows it.
    package static func watching(_ configuration: StarterConfiguration) -> String? {
        guard configuration.backend == nil else { return nil }
        return "\(RemintCommand("tail", "--from", "beginning", "--count", "1"))"
    }

    private static func request(
        _ configuration: StarterConfiguration, _ adapter: any Adapter
    ) -> (String, String) {
        guard isEnough(adapter) else {
            return ("\(RemintCommand("tail", "--events"))", "shows the events of your edge, and their tokens")
        }
        let command = RemintCommand("emit", "--app", configuration.app, "--user", user)
        return ("\(command)", "asks for a token of the user \(user)")
    }

    /// Returns a backend's call to the gateway.
    private static func call(
        _ configuration: StarterConfiguration, _ adapter: any Adapter, keyFile: String
    ) -> (String, String) {
        let address = "http://\(StarterConfiguration.gatewayAddress)"
        guard isEnough(adapter) else { return ("curl \(address)/health/ready", "shows whether the gateway is ready") }
        // The key does not become an argument of a process, which other accounts can read.
        let key = "printf 'x-api-key: %s' \"$(cat \(RemintCommand.quoted(keyFile)))\""
        let vouched = "'remint-vouched: {\"user\":\"\(user)\"}'"
        return (
            "\(key) | curl -H @- -H \(vouched) \(address)/v1/apps/\(configuration.app)/token",
            "gets a token of the user \(user)"
        )
    }

    /// Returns whether the vendor's tokens need nothing but a user's id.
    private static func isEnough(_ adapter: any Adapter) -> Bool {
        var id = JSONWriter()
        id.string(user)
        var members = JSONWriter()
        members.beginObject()
        members.member("user", user)
        members.endObject()
        guard let name = try? JSONDocument(parsing: id.bytes).root,
            let vouched = try? JSONDocument(parsing: members.bytes).root,
            adapter.refusalOfMissingMembers(in: nil) == nil, (try? adapter.user(reissuing: name)) != nil
        else { return false }
        return (try? adapter.user(vouchedBy: vouched)) != nil
    }
}
