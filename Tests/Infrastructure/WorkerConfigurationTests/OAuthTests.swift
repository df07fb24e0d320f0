import Testing
import WorkerConfiguration

@Suite struct OAuthTests {
    private static func file(
        _ oauth: String, properties: String = "security.protocol: sasl_plaintext"
    ) -> ConfigurationFile {
        var file = SampleText.replacing("keys:", "  properties: { \(properties) }\n  oauth: { \(oauth) }\nkeys:")
        file.files = ["conf/secret": "s3cr3t\n", "conf/empty": "\n"]
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

    static let mistakes: [Mistake] = [
        Mistake("no source", file("token_file: t"), says: "4:3 kafka.oauth.source is missing"),
        Mistake("another source", file("source: vault"), says: "4:20 kafka.oauth.source must be file or oidc"),
        Mistake("no file", file("source: file"), says: "4:3 kafka.oauth.token_file is missing"),
        Mistake(
            "two sources' keys", file("source: file, token_file: t, region: r"),
            says: "4:41 kafka.oauth.region is not for the source file; remove it"),
        Mistake("no region", file("source: aws_msk_iam"), says: "4:3 kafka.oauth.region is missing"),
        Mistake(
            "a region that is a host", file("source: aws_msk_iam, region: a.b/c"),
            says: "4:41 kafka.oauth.region must be a region's name"),
        Mistake(
            "plain text", file(server.replacing("https", with: "http")),
            says: "4:42 kafka.oauth.token_endpoint must be https"),
        Mistake(
            "no URL", file(server.replacing("https://", with: "")),
            says: "4:42 kafka.oauth.token_endpoint must be a URL"),
        Mistake(
            "an empty secret", file(server.replacing(": secret", with: ": empty")),
            says: "4:108 the file of kafka.oauth.client_secret_file is empty"),
        Mistake(
            "no secret's file", file(server.replacing(": secret", with: ": gone")),
            says: "4:108 the file of kafka.oauth.client_secret_file cannot be read"),
        Mistake(
            "an extension's name", file(server + ", extensions: { auth: x }"),
            says: "4:130 kafka.oauth.extensions.auth: an extension has a name of letters"),
        Mistake(
            "another mechanism",
            file("source: file, token_file: t", properties: "security.protocol: sasl_ssl, sasl.mechanism: PLAIN"),
            says: "3:46 sasl.mechanism is another mechanism than kafka.oauth is for"),
        Mistake(
            "no SASL", file("source: file, token_file: t", properties: "security.protocol: ssl"),
            says: "4:3 kafka.oauth needs kafka.properties security.protocol: sasl_ssl"),
    ]

    @Test(arguments: mistakes) func `an authorization server that can give no token is refused`(_ mistake: Mistake) {
        mistake.check()
    }
}
