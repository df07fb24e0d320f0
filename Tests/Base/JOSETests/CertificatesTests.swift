import JOSE
import Testing

@testable import Formats

@Suite struct CertificatesTests {
    /// Self-signed, P-256; its dates do not matter here.
    static let root = """
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

    static let whole: [(String, Int)] = [
        (root, 1), (root + root, 2), ("# A root\nCN=Remint\n\(root)\n# and another\n\(root)\nthe end\n", 2),
        (root.replacing("\n", with: "\r\n"), 1), (String(root.dropLast()), 1),
    ]

    @Test(arguments: whole)
    func `certificates are counted, and comments are ignored`(_ text: String, _ count: Int) throws {
        #expect(try Certificates.count(inPEM: text) == count)
    }

    @Test(arguments: ["", "\n", "a root", "-----BEGIN CERTIFICATE", "\u{0}"])
    func `a string without a certificate is refused`(_ text: String) {
        #expect(throws: JOSEError(.invalidKey, "no certificate in PEM")) { try Certificates.count(inPEM: text) }
    }

    @Test func `a key is no certificate`() throws {
        let key = try #require(try SigningKey.generate(.es256).verificationKey.publicKeyPEM())
        #expect(throws: JOSEError(.invalidKey, "no certificate in PEM")) { try Certificates.count(inPEM: key) }
    }

    static let broken: [String] = [
        root.replacing("MIIBjjCC", with: "MIIBjjCD"), root.replacing("MIIBjjCC", with: "MII!jjCC"),
        root.replacing("BEGIN CERTIFICATE-----\nMIIBj", with: "BEGIN CERTIFICATE-----\nMIIBk"),
        String(root.prefix(300)), "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
    ]

    @Test(arguments: broken) func `a certificate that cannot be read is refused with its position`(_ text: String) {
        for count in 0...2 {
            let before = String(repeating: Self.root, count: count)
            #expect(throws: JOSEError(.invalidKey, "the certificate after the first \(count) cannot be read")) {
                try Certificates.count(inPEM: before + text)
            }
        }
    }
}
