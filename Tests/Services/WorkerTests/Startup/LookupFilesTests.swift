import AdapterKit
import Foundation
import Testing
import Worker
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight

/// A vendor whose REST API takes a key.
private struct AskingAdapter: LookupAdapter {
    struct Settings: AdapterSettings {
        static let keys: [SettingKey] = []
        init(from decoder: any Decoder) throws {}
    }

    static let name = "asking"
    static let vendor = "Asking"
    let algorithm = Algorithm.hs256
    let lifetime = LifetimeBounds(standard: 60, allowed: 1...3600)
    let lookupTerms: LookupTerms? = LookupTerms(
        endpoint: "https://api.example", authorization: .key(scheme: "Key"), rates: [.init(5)])

    init(settings: Settings) throws(SettingsError) {}

    func read(_ report: Report) -> Reading { .rejected(Rejection(.malformedReport, "nothing is understood")) }

    func recipe(for subject: Subject) -> Recipe {
        Recipe(algorithm: algorithm, header: Recipe.typeOnly, claims: [Claim("sub", .user)], lifetime: lifetime)
    }

    func subject(named claims: JSONValue) -> Subject? { nil }

    func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup { .none }

    func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] { [] }

    func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict { .accepted }
}

@Suite final class LookupFilesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/ring")
    }

    /// Returns the preflight of a configuration in the folder whose app `shop` has `lookup`.
    private func preflight(_ lookup: String) throws -> Preflight {
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:1 }
            keys: { k: { path: ring } }
            apps:
              shop: { adapter: asking, key: k, lookup: { \(lookup) } }
              other: { adapter: asking, key: k, lookup: { mode: off } }
            """
        return try preflight(of: text)
    }

    private func preflight(of text: String) throws -> Preflight {
        let file = "\(folder.path)/c.yaml"
        try Data(text.utf8).write(to: URL(filePath: file))
        return Preflight(
            file: file, registry: AdapterRegistry([.init(AskingAdapter.self)]),
            source: .guarded)
    }

    private func write(_ text: String, _ name: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder.path)/\(name)")
    }

    @Test(arguments: [0o600, 0o400]) func `a key's file for its owner is as it should be`(_ mode: Int)
        throws
    {
        try write("hunter2\n", "rest", mode: mode)
        let preflight = try preflight("mode: verify, key_file: rest")
        #expect(preflight.diagnostics.isEmpty, "\(preflight.diagnostics)")
        #expect(preflight.configuration?.apps.first?.lookup?.credentials == LookupCredentials.key("hunter2"))
    }

    @Test(arguments: [0o644, 0o604, 0o660, 0o601]) func `a key's file that others can use is refused`(_ mode: Int)
        throws
    {
        try write("hunter2\n", "rest", mode: mode)
        let preflight = try preflight("mode: verify, key_file: rest")
        #expect(!preflight.isReady)
        let octal = String(mode, radix: 8), path = "\(folder.path)/rest"
        #expect(
            preflight.diagnostics.map(\.description) == [
                "\(folder.path)/c.yaml:4:70: error: the file of apps.shop.lookup.key_file has mode \(octal), so others than its owner can use it; run: chmod 600 \(path)"
            ])
    }

    @Test func `a property's file is held to the same`() throws {
        try write("hunter2\n", "word", mode: 0o644)
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:1, properties: { sasl.password_file: word } }
            keys: { k: { path: ring } }
            apps: { shop: { adapter: asking, key: k } }
            """
        #expect(
            try preflight(of: text).diagnostics.map(\.message) == [
                "the file of sasl.password_file has mode 644, so others than its owner can use it; run: chmod 600 \(folder.path)/word"
            ])
        try write("hunter2\n", "word")
        let properties = try #require(try preflight(of: text).configuration?.kafka.properties)
        #expect(properties.map(\.value) == ["hunter2"])
    }

    @Test func `authorities are certificates, every one of them`() throws {
        let lookup = "mode: verify, key: k, certificate_authority: ca.pem"
        try write(Self.root, "ca.pem", mode: 0o644)
        #expect(try preflight(lookup).diagnostics.isEmpty)
        try write(Self.root + Self.root.replacing("MIIBjjCC", with: "MIIBjjCD"), "ca.pem")
        let preflight = try preflight(lookup)
        #expect(!preflight.isReady)
        #expect(
            preflight.diagnostics.map(\.description) == [
                "\(folder.path)/c.yaml:4:91: error: \(folder.path)/ca.pem the certificate after the first 1 cannot be read"
            ])
    }

    @Test(arguments: [0o664, 0o646]) func `authorities in a file that others can change are refused`(_ mode: Int) throws
    {
        try write(Self.root, "ca.pem", mode: mode)
        let complaint =
            "\(folder.path)/ca.pem has mode \(String(mode, radix: 8)), so others than its owner can use it; run: chmod 644 \(folder.path)/ca.pem"
        let ofLookup = try preflight("mode: verify, key: k, certificate_authority: ca.pem")
        #expect(
            ofLookup.diagnostics.map(\.message) == [
                complaint.replacing(
                    "\(folder.path)/ca.pem has", with: "the file of apps.shop.lookup.certificate_authority has")
            ])
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:1, properties: { security.protocol: SSL, ssl.ca.location: \(folder.path)/ca.pem } }
            keys: { k: { path: ring } }
            apps: { shop: { adapter: asking, key: k } }
            """
        #expect(try preflight(of: text).diagnostics.map(\.message) == [complaint])
        try write(Self.root, "ca.pem", mode: 0o644)
        #expect(try preflight(of: text).diagnostics.isEmpty)
    }

    @Test func `no file is checked for a look-up that is off`() throws {
        try write("hunter2", "rest", mode: 0o666)
        #expect(try preflight("mode: off, key_file: rest, certificate_authority: nowhere").diagnostics.isEmpty)
    }

    @Test func `the summary counts the apps that ask`() throws {
        #expect(
            try preflight("mode: verify, key: k").summary
                == "2 apps, 1 with look-ups, 1 key ring, delivery exactly_once")
        #expect(try preflight("mode: off").summary == "2 apps, 1 key ring, delivery exactly_once")
        #expect(try preflight("mode: verify").summary == nil)
    }

    /// Self-signed, P-256; its dates do not matter here.
    private static let root = """
        -----BEGIN CERTIFICATE-----
        MIIBjjCCATOgAwIBAgIUAIqeDZvXJsGV2rtfWFIjNowT698wCgYIKoZIzj0EAwIw
        GzEZMBcGA1UEAwwQUmVtaW50IHRlc3Qgcm9vdDAgFw0yNjExMjExNzQ2MThaGA8y
        MTI2MTAyODE3NDYxOFowGzEZMBcGA1UEAwwQUmVtaW50IHRlc3Qgcm9vdDBZMBMG
        ByqGSM49AgEGCCqGSM49AwEHA0IABItWFkqf/XzM7fwNeToTyPTvQWHSbExCMKzr
        cLCYQYPrSQKN8JC7Tvq6GKGe3NHQMeCStDr0+XKVrD9JlhAYjD+jUzBRMB0GA1Ud
        DgQWBBS+kIvBc+ASGsO/zY07GUN/TZeR6zAfBgNVHSMEGDAWgBS+kIvBc+ASGsO/
        zY07GUN/TZeR6zAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDJ
        cvaSpPudvyJwnCzSf1Tp6vso2mISZIpIK569wqATRwIhAJJwCnQZaXF4LozPbSVW
        vNIgM+mmh2zaGpsveIXKhnKb
        -----END CERTIFICATE-----

        """
}
