import Testing
import WorkerConfiguration

/// A password inside a URL or an address is never repeated, and never accepted: each secret has a key of its own, which names a file.
@Suite("Credentials in URLs") struct CredentialsInURLTests {
    private static let session = "session: { issuer: i, jwks: keys.json }"

    /// A configuration with `value` at each key whose value is a URL or an address, by the key's path.
    private static func configurations(_ value: String) -> [String: ConfigurationFile] {
        let quoted = "'\(value)'"
        return [
            "kafka.bootstrap_servers": SampleText.replacing("127.0.0.1:9092", quoted),
            "kafka.oauth.token_endpoint": SampleText.replacing(
                "127.0.0.1:9092",
                """
                127.0.0.1:9092
                  properties: { security.protocol: sasl_ssl }
                  oauth: { source: oidc, token_endpoint: \(quoted), client_id: c, client_secret_file: secret }
                """),
            "apps.*.lookup.endpoint": SampleText.with("    lookup: { mode: verify, endpoint: \(quoted), key: k }\n"),
            "admin.listen": SampleText.with("admin: { listen: \(quoted) }\n"),
            "admin.runbook": SampleText.with("admin: { listen: '127.0.0.1:1', runbook: \(quoted) }\n"),
            "pickup.listen": SampleText.with("pickup: { listen: \(quoted), \(session) }\n"),
            "pickup.metrics": SampleText.with(
                "pickup: { listen: '127.0.0.1:1', metrics: \(quoted), \(session) }\n"),
            "pickup.public_url": SampleText.with(
                "pickup: { listen: '127.0.0.1:1', public_url: \(quoted), \(session) }\n"),
            "pickup.origins": SampleText.with("pickup: { listen: '127.0.0.1:1', origins: [\(quoted)], \(session) }\n"),
            "pickup.session.jwks": SampleText.with(
                "pickup: { listen: '127.0.0.1:1', session: { issuer: i, jwks: \(quoted) } }\n"),
            "telemetry.otlp.endpoint": SampleText.with("telemetry: { otlp: { endpoint: \(quoted) } }\n"),
        ]
    }

    /// Keys whose form does not mention URLs, and whose values may be one.
    private static let others = ["kafka.bootstrap_servers", "pickup.session.jwks"]

    private static func paths(of section: SectionDescription, below prefix: String) -> [String] {
        let path = [prefix, section.name].filter { !$0.isEmpty }.joined(separator: ".")
        let keys = section.keys.filter {
            [.url, .origin, .address, .list(of: .origin, count: 1...Int.max)].contains($0.form)
        }
        return keys.map { path.isEmpty ? $0.name : "\(path).\($0.name)" }
            + section.sections.flatMap { paths(of: $0, below: path) }
    }

    @Test func `every key whose value is a URL or an address is in the table`() {
        let declared = Configuration.sections.flatMap { Self.paths(of: $0, below: "") }
        #expect(Set(declared + Self.others) == Set(Self.configurations("x").keys))
    }

    @Test(arguments: [
        "https://user:hunter2@host.example/x", "https://hunter2@host.example", "http://user:hunter2@127.0.0.1:8080",
        "HTTPS://user:hunter2@host.example:443/x?y=z", "https://user:hun/ter2@host.example", "ftp://user:hunter2@host",
        "user:hunter2@host.example:9092", "//user:hunter2@host.example", "SASL_SSL://user:hunter2@host.example:9092",
        "https://user:hunter2@[::1]:9092", "https://user:hunter2#@host.example", "https://user:hunter2?@host.example",
    ])
    func `a password in a URL is refused and not repeated`(_ value: String) {
        for (path, file) in Self.configurations(value) {
            let file = ConfigurationFile(file.text, files: ["conf/secret": "s"])
            let (configuration, diagnostics) = file.read()
            // Without a scheme it is the path of a file, which is not there.
            let isPath = path == "pickup.session.jwks" && !value.contains("://")
            #expect(configuration == nil || isPath, "\(path): \(value) is accepted")
            #expect(!diagnostics.isEmpty || isPath, "\(path)")
            for diagnostic in diagnostics {
                #expect(
                    !diagnostic.message.contains("hunter2") && !diagnostic.message.contains("ter2"), "\(diagnostic)")
            }
        }
    }

    @Test func `the refusal of a URL with credentials names where they belong`() {
        for (path, file) in Self.configurations("https://user:hunter2@host.example")
        where !path.hasSuffix("listen") && path != "pickup.metrics" {
            let errors = ConfigurationFile(file.text, files: ["conf/secret": "s"]).errors()
            let isOrigin = path == "pickup.origins"
            #expect(
                errors.count == 1 && (isOrigin || errors[0].contains("must not hold a user name or a password")),
                "\(path): \(errors)")
        }
    }
}
