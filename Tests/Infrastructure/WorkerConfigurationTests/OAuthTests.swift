import Testing
import WorkerConfiguration

@Suite struct OAuthTests {
    private static func file(
        _ oauth: String, properties: String = "security.protocol: sasl_plaintext"
    ) -> ConfigurationFile {
        var file = SampleText.replacing("keys:", "  properties: { \(properties) }\n  oauth: { \(oauth) }\nkeys:")
        file.files = ["conf/secret": "s3cr3t\n"]
        return file
    }

    private static let server =
        "source: oidc, token_endpoint: \"https://Login.Example/token\", client_id: me, client_secret_file: secret"

    @Test func `an authorization server is read with all it needs`() throws {
        let oauth = try #require(
            try Self.file(
                Self.server
                    + ", client_authentication: post, scope: kafka, audience: k, certificate_authority: ca.pem, extensions: { logicalCluster: lkc-1 }"
            ).configuration().kafka.oauth)
        guard case .clientCredentials(let settings) = oauth.source else { throw Other() }
        #expect(settings.endpoint == "https://login.example/token")
        #expect(settings.host == "login.example")
        #expect(settings.clientID == "me")
        #expect(settings.secretFile == "conf/secret")
        #expect(settings.authentication == .post)
        #expect(settings.scope == "kafka")
        #expect(settings.audience == "k")
        #expect(settings.certificateAuthority == "conf/ca.pem")
        #expect(oauth.extensions.map(\.name) == ["logicalCluster"])
        #expect(!"\(oauth)".contains("s3cr3t"))
    }

    private struct Other: Error {}

    @Test func `a file and a region are sources too, and without the section there is none`() throws {
        #expect(
            try Self.file("source: file, token_file: t").configuration().kafka.oauth?.source == .file("conf/t"))
        #expect(
            try Self.file("source: aws_msk_iam, region: eu-west-1").configuration().kafka.oauth?.source
                == .awsMSKIAM(region: "eu-west-1"))
        #expect(try SampleText.with("").configuration().kafka.oauth == nil)
    }
}
