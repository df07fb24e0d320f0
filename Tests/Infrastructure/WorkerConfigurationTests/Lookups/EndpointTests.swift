import AdapterKit
import Testing
import WorkerConfiguration

@Suite("Endpoints of look-ups")
struct EndpointTests {
    private static func file(_ endpoint: String, _ more: String...) -> ConfigurationFile {
        LookupText.app(["mode: verify", "endpoint: '\(endpoint)'", "key: hunter2-key"] + more)
    }

    static let right: [(String, String)] = [
        ("https://rest.fra-01.braze.eu", "https://rest.fra-01.braze.eu"),
        ("HTTPS://Rest.Example", "https://rest.example"), ("https://rest.example/", "https://rest.example"),
        ("https://rest.example:443", "https://rest.example"), ("https://rest.example:0443/", "https://rest.example"),
        ("https://rest.example:80", "https://rest.example:80"),
        ("https://rest.example/A/b%2F/", "https://rest.example/A/b%2F"),
        ("https://rest.example/v1;a=b,c/@x:y", "https://rest.example/v1;a=b,c/@x:y"),
        ("https://rest.example/..a/...", "https://rest.example/..a/..."),
        ("https://192.0.2.1:8443", "https://192.0.2.1:8443"),
        ("https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443/x"),
        ("https://[::ffff:192.0.2.1]", "https://[::ffff:192.0.2.1]"),
        ("https://[1:2:3:4:5:6:7:8]", "https://[1:2:3:4:5:6:7:8]"), ("https://rest_api", "https://rest_api"),
        ("http://localhost:8080", "http://localhost:8080"), ("http://LOCALHOST:80/", "http://localhost"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1"), ("http://127.255.0.9", "http://127.255.0.9"),
        ("http://[::1]:8080/base", "http://[::1]:8080/base"),
    ]

    @Test(arguments: right) func `an endpoint is kept in one form`(_ written: String, _ url: String) throws {
        let file = Self.file(written)
        #expect(try file.lookup().url == url)
        #expect(file.warnings().isEmpty)
    }

    static let wrong: [(message: String, endpoints: [String])] = [
        (
            "must be a URL of visible ASCII characters",
            ["https://a b", "https://ä.example", " https://a", "https://a/\t"]
        ),
        (
            "must be a URL that begins with https://",
            [
                "rest.example", "rest.example:443", "//rest.example", "ftp://a", "https:/a", "https:a", "://a",
                "httpss://a",
            ]
        ),
        (
            "must not hold a user name or a password; they have keys of their own",
            ["https://hunter2@a", "https://u:hunter2@a/", "https://@a", "https://u@[::1]"]
        ),
        (
            "must have no query and no fragment",
            ["https://a?hunter2=1", "https://a/?", "https://a/b#hunter2", "https://a#", "https://?"]
        ),
        (
            "must name a host: a DNS name, an IPv4 address, or an IPv6 address in brackets",
            [
                "https://", "https:///a", "https://:443", "https://a..b", "https://.a", "https://a.", "https://-a",
                "https://a-.b", "https://a%41", "https://a\\b", "https://a,b", "https://1.2.3", "https://1.2.3.4.5",
                "https://1.2.3.256", "https://01.2.3.4", "https://2130706433", "https://0x7f.1", "https://a.1",
                "https://[::1", "https://[]", "https://[:]", "https://[1::2::3]", "https://[:::1]", "https://[12345::]",
                "https://[g::]", "https://[1:2:3:4:5:6:7]", "https://[1:2:3:4:5:6:7:8:9]",
                "https://[1:2:3:4:5:6:7:8::]", "https://[::1%25lo]", "https://[1.2.3.4]", "https://[::1.2.3.4:1]",
                "https://\(String(repeating: "a", count: 64)).b",
                "https://\(Array(repeating: "abcdefg", count: 32).joined(separator: "."))",
            ]
        ),
        (
            "must have a port from 1 to 65535, or none",
            [
                "https://a:", "https://a:0", "https://a:65536", "https://a:+80", "https://a:8a", "https://a:1:2",
                "https://[::1]8", "https://::1",
            ]
        ),
        (
            "must have a path of percent-encoded parts, none of them empty, . or ..",
            [
                "https://a//", "https://a//b", "https://a/b//", "https://a/.", "https://a/../b", "https://a/%2e%2E/b",
                "https://a/.%2e", "https://a/%", "https://a/%4", "https://a/%zz", "https://a/\"", "https://a/{b}",
                "https://a/b|c",
            ]
        ),
    ]

    @Test(arguments: wrong) func `a string that is no endpoint is refused without repeating it`(
        _ message: String, _ endpoints: [String]
    ) {
        for endpoint in endpoints {
            // In double quotes, for a tab that YAML is to see as one.
            let text = endpoint.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\t", with: "\\t")
            let file = LookupText.app(["mode: verify", "endpoint: \"\(text)\"", "key: hunter2-key"])
            let errors = file.errors()
            #expect(
                errors == ["\(ConfigurationFile.name):10:17: error: apps.shop.lookup.endpoint \(message)"],
                "\(endpoint)")
        }
    }

    @Test(arguments: [
        "http://rest.example", "http://127.example.com", "http://localhost.example.com", "http://localhosts",
        "http://128.0.0.1", "http://[::2]", "http://[::ffff:127.0.0.1]", "http://0.0.0.0",
        "http://127.0.0.1.nip.example",
    ])
    func `a plain http endpoint is for this machine, or has to be allowed`(_ endpoint: String) throws {
        #expect(
            Self.file(endpoint).errors() == [
                "\(ConfigurationFile.name):10:17: error: apps.shop.lookup.endpoint must be https beyond this machine; or write apps.shop.lookup.insecure: true"
            ])
        #expect(Self.file(endpoint, "insecure: false").errors().count == 1)
        let file = Self.file(endpoint, "insecure: true")
        #expect(try file.lookup().url == endpoint)
        #expect(file.warnings().isEmpty)
    }

    @Test func `a key without use is warned about and not refused`() throws {
        let written = Self.file("https://rest.example", "insecure: true")
        let vendors = LookupText.app("basic", LookupText.basic + ["insecure: true"])
        for file in [written, vendors] {
            _ = try file.lookup()
            #expect(
                file.warnings() == [
                    "\(ConfigurationFile.name):12:17: warning: apps.shop.lookup.insecure has no use: the endpoint is https; remove it"
                ])
        }
        let plain = Self.file("http://localhost", "certificate_authority: /ca.pem")
            .with(files: ["/ca.pem": "-----BEGIN CERTIFICATE-----"])
        #expect(try plain.lookup().certificateAuthority == "/ca.pem")
        #expect(
            plain.warnings() == [
                "\(ConfigurationFile.name):12:30: warning: apps.shop.lookup.certificate_authority has no use: the endpoint is plain http; remove one of them"
            ])
    }
}
