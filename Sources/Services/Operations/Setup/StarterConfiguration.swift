package import AdapterKit
import Formats
import Keyring
import WorkerConfiguration

/// A first configuration: an app with its key ring, the brokers and, where it is asked for, the gateway.
package struct StarterConfiguration: Sendable {
    package static let gatewayAddress = "127.0.0.1:8080"
    /// The address of the worker's admin server, and of the gateway's metrics.
    private static let (adminAddress, metricsAddress) = ("127.0.0.1:9464", "127.0.0.1:9465")

    package let adapter: String
    /// The vendor's own spelling.
    package let vendor: String
    /// The app's name, which is also the name of its key ring.
    package let app: String
    package let settings: [(key: SettingKey, value: String)]
    package let brokers: String
    /// Whether brokers on other machines are called without TLS.
    package let isPlaintext: Bool
    /// The hash of the gateway's API key; nil for a configuration without a gateway.
    package let backend: String?

    package var isEmbedded: Bool { Configuration.Kafka.isEmbedded(brokers) }

    package var text: String {
        (head + kafka + ring + application + admin + gateway).map { $0 + "\n" }.joined()
    }

    /// Returns the configuration `text` with the app and its key ring; nil if it has no section `keys` or `apps` with an
    /// entry on a line of its own.
    package func added(to text: String) -> String? {
        var existing = ConfigurationText(text)
        let hasRing = existing.add(Array(ring.dropFirst()), to: "keys")
        let hasApp = existing.add(Array(application.dropFirst()), to: "apps")
        return hasRing && hasApp ? existing.text : nil
    }

    private var head: [String] {
        ["# A first configuration, for the app \(app) and its vendor, \(vendor). Every key: remint config sample"]
    }

    private var kafka: [String] {
        // An address such as [::1]:9092 would begin a list.
        let isPlain = brokers.wholeMatch(of: /[a-z0-9][A-Za-z0-9.:,-]*/) != nil
        let lines = ["kafka:", "  bootstrap_servers: \(isPlain ? brokers : Self.quoted(brokers))"]
        if isEmbedded { return [lines[0], lines[1] + "    # a broker in the worker, for a trial; later host:port"] }
        if isLocal { return lines }
        return lines + [
            isPlaintext
                ? "  insecure: true    # plain text; better: properties: { security.protocol: ssl }"
                : "  properties: { security.protocol: ssl }    # or sasl_ssl, with sasl.username and sasl.password_file"
        ]
    }

    /// The copies that each topic gets on these brokers; nil for the brokers' default.
    package var copies: Int? {
        guard let count = (try? BrokerList(brokers))?.addresses.count, count > 1 else { return nil }
        return min(3, count)
    }

    /// Whether all brokers are on this machine, which needs no TLS.
    private var isLocal: Bool { (try? BrokerList(brokers))?.addresses.allSatisfy(\.isLocal) ?? false }

    private var ring: [String] { ["keys:", "  \(name): { path: keys/\(app) }"] }

    private var application: [String] {
        let lines = [
            "apps:", "  \(name):", "    adapter: \(Self.plain(adapter))", "    key: \(name)",
            "    identity: vouched    # your edge names the user that it has authenticated; a device cannot",
        ]
        guard !settings.isEmpty else { return lines }
        return lines + ["    settings:"] + settings.map { "      \($0.key.name): \(Self.yaml($0.value, $0.key.kind))" }
    }

    private var admin: [String] {
        [
            "admin: { listen: \(Self.adminAddress) }    # the status page, /health/ready and /metrics"
        ]
    }

    private var gateway: [String] {
        guard let backend else { return [] }
        return [
            "pickup:    # the gateway: devices and backends get their tokens here",
            "  listen: \(Self.gatewayAddress)", "  metrics: \(Self.metricsAddress)",
            "  trusted_proxies: [127.0.0.1]    # the proxy with your certificate, on this machine",
            "  api_keys: { backend: { hash: \(backend) } }",
            "  # For devices, name the issuer of your login's sessions, and the app that they open:",
            "  # session: { issuer: https://login.example.com, jwks: https://login.example.com/.well-known/jwks.json }",
            "  # apps: { \(name): { issuer: https://login.example.com } }",
        ]
    }

    // MARK: Words

    private var name: String { Self.plain(app) }

    /// Returns `word` as YAML reads it as a string: names such as `on` and `1.0` get quotes.
    private static func plain(_ word: String) -> String {
        let words: Set = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        let isPlain = word.wholeMatch(of: /[a-z][a-z0-9-]*/) != nil && !words.contains(word)
        return isPlain ? word : quoted(word)
    }

    private static func yaml(_ value: String, _ kind: SettingKey.Kind) -> String {
        switch kind {
        case .boolean, .integer: value
        case .texts:
            "[\(value.split(separator: ",").map { quoted(trimmed($0)) }.joined(separator: ", "))]"
        case .text, .choice: quoted(value)
        }
    }

    private static func trimmed(_ part: Substring) -> String {
        String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Returns `text` in quotes: a string of JSON is one of YAML.
    private static func quoted(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

/// The text of a configuration to which entries are added. All other lines stay as they are.
struct ConfigurationText {
    private var lines: [String]

    /// The configuration `text`.
    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    var text: String { lines.joined(separator: "\n") }

    /// Adds `entry`, which is indented by two spaces, at the end of the section `name`.
    ///
    /// - Returns: whether there is a section that can be added to: its name in a line of its own, and its entries below.
    mutating func add(_ entry: [String], to name: String) -> Bool {
        guard let start = lines.firstIndex(where: { Self.names($0, name) }) else { return false }
        let after = lines[(start + 1)...].firstIndex { !Self.isBlank($0) && !$0.hasPrefix(" ") } ?? lines.endIndex
        guard let first = lines[start..<after].dropFirst().first(where: { !Self.isBlank($0) }),
            let last = lines[start..<after].lastIndex(where: { !Self.isBlank($0) })
        else { return false }
        let indentation = first.prefix { $0 == " " }.count
        guard indentation >= 2 else { return false }
        let space = String(repeating: " ", count: indentation - 2)
        lines.insert(contentsOf: entry.map { space + $0 }, at: last + 1)
        return true
    }

    private static func names(_ line: String, _ section: String) -> Bool {
        guard line.hasPrefix(section + ":") else { return false }
        return isBlank(String(line.dropFirst(section.count + 1)))
    }

    /// Whether the line has nothing but spaces and a comment.
    private static func isBlank(_ line: String) -> Bool {
        line.first { $0 != " " && $0 != "\t" && $0 != "\r" }.map { $0 == "#" } ?? true
    }
}

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
