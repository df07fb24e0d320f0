import Foundation
import Testing

/// A mistake in a healthy configuration, and the one line that `remint check` prints about it.
struct ConfigurationMistake: CustomTestStringConvertible, Sendable {
    /// A change of the healthy configuration's folder.
    enum Edit: Sendable {
        /// Writes the second string in place of the first occurrence of the first one.
        case replace(String, String, in: String = HealthyConfiguration.file)
        case remove(String)
        case setMode(String, Int)

        func apply(in folder: URL) throws {
            switch self {
            case .replace(let old, let new, let name):
                let file = folder.appending(path: name)
                let text = try String(contentsOf: file, encoding: .utf8)
                let edited = text.replacing(old, with: new, maxReplacements: 1)
                try #require(edited != text, "\(name) lacks \(old)")
                // Written in place, so that the file keeps its mode.
                try Data(edited.utf8).write(to: file, options: [])
            case .remove(let name): try FileManager.default.removeItem(at: folder.appending(path: name))
            case .setMode(let name, let mode):
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: folder.appending(path: name).path)
            }
        }
    }

    let testDescription: String
    let edit: Edit
    /// The beginning of the line: the file, the line, the column and the severity.
    let place: String
    let problem: String
    /// The edit or the command that fixes the mistake.
    let fix: String
    let status: Int32

    /// A mistake that keeps a worker or a gateway from starting.
    private init(_ name: String, _ edit: Edit, at place: String, _ problem: String, fix: String) {
        self.init(name, edit, "\(place): error:", problem, fix, status: 1)
    }

    private init(
        _ name: String, _ edit: Edit, _ place: String, _ problem: String, _ fix: String, status: Int32
    ) {
        (testDescription, self.edit, self.place) = (name, edit, place)
        (self.problem, self.fix, self.status) = (problem, fix, status)
    }

    /// Returns a mistake that a worker starts with.
    private static func doubt(
        _ name: String, _ edit: Edit, at place: String, _ problem: String, fix: String
    ) -> ConfigurationMistake {
        ConfigurationMistake(name, edit, "\(place): warning:", problem, fix, status: 0)
    }

    static let all = spelling + brokers + apps + rings + files + servers

    private static let spelling: [ConfigurationMistake] = [
        .init(
            "a misspelled key", .replace("identity: vouched", "identiti: vouched"), at: "remint.yaml:18:5",
            "unknown key apps.ios.identiti", fix: "did you mean identity?"),
        .init(
            "a key in camel case", .replace("trusted_proxies", "trustedProxies"), at: "remint.yaml:38:3",
            "unknown key pickup.trustedProxies", fix: "did you mean trusted_proxies?"),
        .init(
            "a required key in camel case", .replace("bootstrap_servers", "bootstrapServers"), at: "remint.yaml:2:3",
            "unknown key kafka.bootstrapServers", fix: "did you mean bootstrap_servers?"),
        .init(
            "a required setting in camel case", .replace("app_id", "appId"), at: "remint.yaml:30:7",
            "unknown key apps.web.settings.appId", fix: "did you mean app_id?"),
        .init(
            "a misspelled section", .replace("keys:", "key:"), at: "remint.yaml:11:1", "unknown key key",
            fix: "did you mean keys?"),
        .init(
            "a tab", .replace("  group: shop", "\tgroup: shop"), at: "remint.yaml:3:1", "not YAML: found a tab",
            fix: "indent with spaces, not tabs"),
        .init(
            "a missing colon", .replace("group: shop", "group shop"), at: "remint.yaml:4:3",
            "could not find expected ':'",
            fix: "write a colon and a space behind the key above"),
        .init(
            "a duplicate app", .replace("  web:", "  ios:"), at: "remint.yaml:15:3", "a duplicate key: ios",
            fix: "keep one of them"),
        .init(
            "an unknown log level", .replace("level: info", "level: warn"), at: "remint.yaml:46:10",
            "log.level must be one of trace, debug", fix: "did you mean warning?"),
    ]

    private static let brokers: [ConfigurationMistake] = [
        .init(
            "brokers in a list", .replace("${SHOP_BROKERS}", "[broker-1:9093, broker-2:9093]"), at: "remint.yaml:2:22",
            "kafka.bootstrap_servers must be a string", fix: "host:port, several brokers separated by commas"),
        .init(
            "a broker without a port", .replace("${SHOP_BROKERS}", "broker.example"), at: "remint.yaml:2:22",
            "the address has no port", fix: "add :9092, or the port of the brokers' listener"),
        .init(
            "a URL in place of a broker", .replace("${SHOP_BROKERS}", "kafka://broker.example:9093"),
            at: "remint.yaml:2:22", "the address has a protocol that is none of Kafka's",
            fix: "write PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, or host:port alone"),
        .init(
            "plain text to remote brokers", .replace("protocol: sasl_ssl", "protocol: sasl_plaintext"),
            at: "remint.yaml:2:22", "brokers beyond this machine need kafka.properties security.protocol",
            fix: "or write kafka.insecure: true"),
        .init(
            "an undefined variable", .replace("SHOP_BROKERS", "SHOP_BROKER_LIST"), at: "remint.yaml:2:22",
            "the environment variable SHOP_BROKER_LIST is not defined", fix: "write ${SHOP_BROKER_LIST:-default}"),
        .init(
            "an undefined variable in a property", .replace("sasl_ssl", "${SHOP_PROTOCOL}"), at: "remint.yaml:5:24",
            "the environment variable SHOP_PROTOCOL is not defined", fix: "write ${SHOP_PROTOCOL:-default}"),
        .init(
            "the group's own property", .replace("sasl.username: shop", "group.id: shop"), at: "remint.yaml:7:5",
            "group.id is set by the worker itself", fix: "remove it"),
        .init(
            "an unknown property", .replace("sasl.username", "sasl.usernam"), at: "remint.yaml:7:5",
            "the property sasl.usernam is not one that librdkafka", fix: "correct its name or remove it"),
        .init(
            "certificates that are not checked",
            .replace("sasl.username: shop", "enable.ssl.certificate.verification: false"), at: "remint.yaml:7:5",
            "certificates and host names are always checked", fix: "give a private CA with ssl.ca.location"),
        .doubt(
            "a password in the configuration", .replace("password_file: secrets/kafka", "password: hunter2"),
            at: "remint.yaml:8:5", "kafka.properties sasl.password is a secret in the configuration's file",
            fix: "move it to a file of mode 600 and write sasl.password_file: PATH"),
        .init(
            "a topic for two purposes", .replace("shop.tokens", "remint.invalidations"), at: "remint.yaml:10:11",
            "two topics share the name remint.invalidations", fix: "give each its own"),
    ]

    private static let apps: [ConfigurationMistake] = [
        .init(
            "a misspelled adapter", .replace("adapter: braze", "adapter: brase"), at: "remint.yaml:16:14",
            "no adapter is called brase", fix: "did you mean braze?"),
        .init(
            "an unknown ring", .replace("key: push", "key: pusch"), at: "remint.yaml:26:10",
            "keys has no key ring called pusch", fix: "did you mean push?"),
        .init(
            "a lifetime without a unit", .replace("lifetime: 12h", "lifetime: 43200"), at: "remint.yaml:19:15",
            "apps.ios.lifetime must be a duration", fix: "did you mean 43200s?"),
        .init(
            "a lifetime that no vendor accepts", .replace("lifetime: 12h", "lifetime: 400d"), at: "remint.yaml:19:15",
            "apps.ios.lifetime", fix: "must be from 1s to 365d"),
        .init(
            "a lifetime that Braze does not accept", .replace("lifetime: 12h", "lifetime: 60d"),
            at: "remint.yaml:19:15",
            "apps.ios.lifetime must be from 1m to 30d", fix: "as tokens of Braze live"),
        .init(
            "a missing setting",
            .replace("    settings:\n      app_id: 0f0f0f0f-1111-2222-3333-444444444444\n", ""), at: "remint.yaml:24:3",
            "apps.web.settings.app_id is missing", fix: "the OneSignal App ID (a UUID)"),
        .doubt(
            "a name in place of a UUID", .replace("0f0f0f0f-1111-2222-3333-444444444444", "my-app"),
            at: "remint.yaml:30:15", "apps.web.settings.app_id is no UUID", fix: "copy it from the vendor's dashboard"),
        .init(
            "a look-up without its endpoint", .replace("      endpoint: https://rest.fra-01.braze.eu\n", ""),
            at: "remint.yaml:20:5", "apps.ios.lookup.endpoint is missing", fix: "write its https URL"),
        .init(
            "tiers that do not grow", .replace("[10s, 1m]", "[1m, 10s]"), at: "remint.yaml:33:17",
            "worker.retries.tiers must grow from tier to tier", fix: "order them, and write each once"),
    ]

    private static let rings: [ConfigurationMistake] = [
        .init(
            "a missing ring", .replace("path: keys/braze", "path: keys/brace"), at: "remint.yaml:12:18",
            "keys/brace/keyring.json cannot be opened: No such file or directory",
            fix: "Create the ring: remint keys generate --key braze --config remint.yaml"),
        .init(
            "a ring for another algorithm", .replace("path: keys/braze", "path: keys/spare"), at: "remint.yaml:17:10",
            "the version k1 of braze is for ES256, and Braze takes RS256 alone",
            fix: "name a ring of RS256 keys in apps.ios.key, or correct the folder of the ring braze"),
        .doubt(
            "a ring that no app uses",
            .replace("  push: { path", "  old: { path: keys/spare }\n  push: { path"), at: "remint.yaml:13:16",
            "keys.old is the key of no app", fix: "name it in apps.*.key, or remove it"),
        .init(
            "two rings in one folder", .replace("path: keys/push", "path: keys/braze"), at: "remint.yaml:13:17",
            "keys.push has the folder of keys.braze", fix: "give it a folder of its own"),
        .init(
            "a ring without an active version", .replace("\"active\"", "\"passive\"", in: "keys/push/keyring.json"),
            at: "keys/push/keyring.json:1:13", "has 0 active versions",
            fix: "write \"state\": \"active\" in exactly one"),
        .init(
            "an active key past its end",
            .replace(
                "\"state\":\"active\"", "\"state\":\"active\",\"retire_after\":\"2024-01-01T00:00:00Z\"",
                in: "keys/braze/keyring.json"), at: "remint.yaml:17:10",
            "the app ios cannot sign: the version k1 of the key ring braze retired at 2024-01-01T00:00:00Z",
            fix: "remint rotate prepare --key braze --config remint.yaml"),
    ]

    private static let files: [ConfigurationMistake] = [
        .init(
            "a missing configuration", .remove("remint.yaml"), at: "remint.yaml:1:1", "no such file",
            fix: "name one with --config"),
        .init(
            "a password that others can read", .setMode("secrets/kafka", 0o644), at: "remint.yaml:8:25",
            "the file of sasl.password_file has mode 644", fix: "run: chmod 600 secrets/kafka"),
        .init(
            "a key that others can read", .setMode("keys/braze/k1.pem", 0o644), at: "keys/braze/keyring.json:1:69",
            "keys/braze/k1.pem has mode 644", fix: "run: chmod 600 keys/braze/k1.pem"),
        .init(
            "a missing password", .remove("secrets/kafka"), at: "remint.yaml:8:25",
            "the file of sasl.password_file cannot be opened", fix: "fix the path or put the file there"),
        .init(
            "a missing seal", .remove("recipient.jwk"), at: "remint.yaml:28:11",
            "the file of apps.web.seal cannot be opened", fix: "fix the path or put the file there"),
        .init(
            "a missing JWK Set", .remove("jwks.json"), at: "remint.yaml:42:11",
            "pickup.session.jwks: jwks.json cannot be opened", fix: "fix the path or put the file there"),
    ]

    private static let servers: [ConfigurationMistake] = [
        .init(
            "an admin server without a token", .replace("127.0.0.1:9464", "0.0.0.0:9464"), at: "remint.yaml:35:11",
            "admin.listen can be reached from other machines and asks for no token", fix: "set admin.token_file"),
        .init(
            "an address without a host", .replace("127.0.0.1:9464", "9464"), at: "remint.yaml:35:11",
            "admin.listen must be host:port", fix: "such as 127.0.0.1:9464"),
        .doubt(
            "two servers on one port", .replace("127.0.0.1:8080", "127.0.0.1:9464"), at: "remint.yaml:35:11",
            "both listen on port 9464 of one address", fix: "write another port in admin.listen"),
        .init(
            "a gateway without sessions",
            .replace(
                "  session:\n    issuer: https://login.example.com\n    audience: shop\n    jwks: jwks.json\n", ""),
            at: "remint.yaml:36:1", "pickup has neither session nor api_keys", fix: "add session or api_keys"),
        .init(
            "a JWK Set over http", .replace("jwks: jwks.json", "jwks: http://login.example.com/jwks.json"),
            at: "remint.yaml:42:11", "pickup.session.jwks", fix: "must be an https URL, or a file"),
        .init(
            "an app that the gateway does not know", .replace("    ios: { issuer", "    iso: { issuer"),
            at: "remint.yaml:44:5", "apps has no app called iso", fix: "did you mean ios?"),
    ]
}
