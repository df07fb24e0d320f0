import AdapterKit
import BrokerTokens
import CertificateTestSupport
import Formats
import Kafka
import StubServer
import Testing
import WorkerConfiguration

@Suite(.timeLimit(.minutes(5))) struct ClientCredentialsTests {
    private func settings(
        _ url: String, _ folder: Folder, secret: String = TokenServer.secret + "\n"
    ) throws -> Configuration.OAuth.ClientCredentials {
        var settings = Configuration.OAuth.ClientCredentials()
        let endpoint = try EndpointURL(parsing: "\(url)/token")
        settings.endpoint = endpoint.text
        settings.host = endpoint.authority
        settings.clientID = TokenServer.id
        settings.secretFile = try folder.write(secret, to: "secret")
        return settings
    }

    private func with<Result>(
        _ stub: TokenServer, tls: StubServer.TLS? = nil, _ body: (StubServer) async throws -> Result
    ) async throws -> Result {
        let server = try await StubServer.start(stub, now: { now }, tls: tls)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    @Test(arguments: Configuration.OAuth.Authentication.allCases)
    func `the client asks for the grant with its own id and secret`(
        _ authentication: Configuration.OAuth.Authentication
    ) async throws {
        let (stub, folder) = (TokenServer(authentication), try Folder())
        try await with(stub) { server in
            var settings = try settings(server.url, folder)
            settings.authentication = authentication
            settings.scope = "kafka read/write"
            settings.audience = "https://kafka.example"
            let token = try await ClientCredentials(settings: settings).token(at: now)
            #expect(token.text == "token-1")
            #expect(token.expiry == now.milliseconds + 300_000)
            #expect(token.principal == TokenServer.id)
        }
        let ask = try #require(stub.asks.first)
        #expect(stub.asks.count == 1)
        #expect(ask.form["grant_type"] == "client_credentials")
        #expect(ask.form["scope"] == "kafka read/write")
        #expect(ask.form["audience"] == "https://kafka.example")
        #expect(ask.contentType == "application/x-www-form-urlencoded")
    }

    @Test func `the secret is read for each token, and one that is refused is in no error`() async throws {
        let (stub, folder) = (TokenServer(), try Folder())
        try await with(stub) { server in
            let source = ClientCredentials(settings: try settings(server.url, folder, secret: "the old one"))
            let failure = await #expect(throws: TokenFailure.self) { try await source.token(at: now) }
            #expect(failure?.message == "127.0.0.1:\(server.port) answers with status 401: invalid_client")
            try folder.write(TokenServer.secret, to: "secret")
            #expect(try await source.token(at: now).text == "token-2")
        }
    }

    @Test func `a file that others can read is refused`() async throws {
        let folder = try Folder()
        let settings = try settings("http://127.0.0.1:1", folder)
        try folder.write(TokenServer.secret, to: "secret", mode: 0o644)
        let failure = await #expect(throws: TokenFailure.self) {
            try await ClientCredentials(settings: settings).token(at: now)
        }
        #expect(failure?.message.contains("chmod 600") == true)
    }

    @Test(
        arguments: [
            (#"{"access_token":"a","expires_in":"60"}"#, 60), (#"{"access_token":"a","expires_in":59.9}"#, 59),
            (#"{"access_token":"\#(unsecuredJWT(expiry: now.seconds + 30))","expires_in":60}"#, 30),
            (#"{"access_token":"\#(unsecuredJWT(expiry: now.seconds + 90))"}"#, 90),
        ] as [(String, Int64)])
    func `the life of a token is the shorter of the two stated ones`(answer: String, seconds: Int64) async throws {
        let (stub, folder) = (TokenServer(), try Folder())
        stub.answer { _ in StubResponse(status: 200, json: answer) }
        try await with(stub) { server in
            let token = try await ClientCredentials(settings: try settings(server.url, folder)).token(at: now)
            #expect(token.expiry == now.milliseconds + seconds * 1000)
        }
    }

    @Test(arguments: [
        (200, #"{"token_type":"Bearer"}"#, "answers without an access_token"),
        (200, #"{"access_token":"s3cr3t"}"#, "has neither expires_in nor, in a JWT, exp"),
        (200, #"{"access_token":"s3cr3t\n","expires_in":60}"#, "visible ASCII characters"),
        (200, "s3cr3t", "something else than a JSON object"), (503, "s3cr3t", "status 503"),
        (400, #"{"error":"S3CR3T s3cr3t"}"#, "status 400"), (302, "{}", "status 302"),
    ])
    func `an unusable answer is reported without repeating it`(status: Int, body: String, says: String) async throws {
        let (stub, folder) = (TokenServer(), try Folder())
        stub.answer { _ in StubResponse(status: status, json: body) }
        try await with(stub) { server in
            let source = ClientCredentials(settings: try settings(server.url, folder))
            let failure = try #require(await #expect(throws: TokenFailure.self) { try await source.token(at: now) })
            #expect(failure.message.contains(says), "\(failure.message)")
            #expect(!failure.message.lowercased().contains("s3cr3t"))
        }
    }

    @Test func `a token comes over TLS only if the server's certificate is good`() async throws {
        let certificates = try CertificateTestSupport.Certificates()
        try await certificates.make("authority")
        try await certificates.make("localhost", signedBy: "authority")
        let tls = StubServer.TLS(
            certificates: certificates.path("localhost.pem"), key: certificates.path("localhost.key"))
        let (stub, folder) = (TokenServer(), try Folder())
        try await with(stub, tls: tls) { server in
            var settings = try settings(server.url, folder)
            let failure = await #expect(throws: TokenFailure.self) {
                try await ClientCredentials(settings: settings).token(at: now)
            }
            #expect(failure?.message.contains("certificate_authority") == true)
            #expect(stub.asks.isEmpty)
            settings.certificateAuthority = certificates.path("authority.pem")
            #expect(try await ClientCredentials(settings: settings).token(at: now).text == "token-1")
        }
    }
}
