import AdapterKit
import BrokerTokens
import Formats
import Kafka
import StubServer
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileTokensTests {
    @Test func `a token is read again when its file changes`() async throws {
        let folder = try Folder()
        let first = unsecuredJWT(subject: "pod", expiry: now.seconds + 60)
        // As Kubernetes projects it: others may read it.
        let source = FileTokens(path: try folder.write(first + "\n", to: "token", mode: 0o644))
        let before = source.revision
        let token = try await source.token(at: now)
        #expect(token.text == first)
        #expect(token.expiry == now.milliseconds + 60_000)
        #expect(token.principal == "pod")
        #expect(source.revision == before)
        let second = unsecuredJWT(subject: "pod", expiry: now.seconds + 120)
        try folder.write(second, to: "token", mode: 0o644)
        #expect(source.revision != before)
        #expect(try await source.token(at: now).text == second)
    }

    @Test(arguments: [
        ("no token", 0o600, "holds no JWT with an exp"), ("e30.e30.", 0o600, "holds no JWT with an exp"),
        (unsecuredJWT(expiry: now.seconds), 0o600, "expired at 2027-01-15T08:00:00Z"),
        (unsecuredJWT(expiry: now.seconds + 9), 0o666, "chmod 644"),
    ])
    func `a file without a live token, or open to others, is refused`(text: String, mode: Int, says: String)
        async throws
    {
        let folder = try Folder()
        let source = FileTokens(path: try folder.write(text, to: "token", mode: mode))
        let failure = await #expect(throws: TokenFailure.self) { try await source.token(at: now) }
        #expect(failure?.message.contains(says) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains("e30") == false)
    }

    @Test func `a file that is not there has a message of its own`() async {
        let failure = await #expect(throws: TokenFailure.self) {
            try await FileTokens(path: "/nowhere/token").token(at: now)
        }
        #expect(failure?.message.hasPrefix("kafka.oauth.token_file /nowhere/token cannot be opened") == true)
    }
}

@Suite(.timeLimit(.minutes(5))) struct AWSCredentialTests {
    /// A stub that keeps its requests, and always returns the same JSON.
    private final class Agent: VendorStub {
        private let asked = Mutex<[StubRequest]>([])
        let json: String

        init(_ json: String) { self.json = json }

        var asks: [StubRequest] { asked.withLock { $0 } }

        func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
            asked.withLock { $0.append(request) }
            return StubResponse(status: 200, json: json)
        }
    }

    private func chain(_ environment: [String: String]) -> AWSCredentialChain {
        AWSCredentialChain(region: "eu-west-1") { environment[$0] }
    }

    private func id(_ environment: [String: String]) async throws -> String {
        let credentials = try await chain(environment).credentials(at: now)
        return try MSKTokens.token(credentials, region: "eu-west-1", at: now).principal
    }

    @Test func `the environment comes first, then the shared file's profile`() async throws {
        let folder = try Folder()
        let file = try folder.write(
            """
            # shared
            [default]
            aws_access_key_id = ID-DEFAULT
            aws_secret_access_key=abc=
            [other]
            aws_access_key_id=ID-OTHER
             aws_secret_access_key = def
            """, to: "credentials")
        var environment = ["AWS_SHARED_CREDENTIALS_FILE": file, "AWS_SESSION_TOKEN": ""]
        #expect(try await id(environment) == "ID-DEFAULT")
        environment["AWS_PROFILE"] = "other"
        #expect(try await id(environment) == "ID-OTHER")
        environment["AWS_ACCESS_KEY_ID"] = "ID-ENVIRONMENT"
        #expect(try await id(environment) == "ID-OTHER", "an id without a secret is none")
        environment["AWS_SECRET_ACCESS_KEY"] = "s"
        #expect(try await id(environment) == "ID-ENVIRONMENT")
        environment = ["AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "none"]
        await #expect(throws: TokenFailure.self) { try await chain(environment).credentials(at: now) }
        await #expect(throws: TokenFailure.self) { try await chain([:]).credentials(at: now) }
    }

    @Test func `the container's agent is asked with its token`() async throws {
        let folder = try Folder()
        let agent = Agent(
            #"{"AccessKeyId":"ID-POD","SecretAccessKey":"s","Token":"t","Expiration":"2027-01-15T08:01:00Z"}"#)
        let server = try await StubServer.start(agent, now: { now })
        let credentials = try await chain([
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "\(server.url)/v1/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": try folder.write("pod-token\n", to: "token", mode: 0o644),
        ]).credentials(at: now)
        await server.stop()
        #expect(agent.asks.map(\.path) == ["/v1/credentials"])
        #expect(agent.asks.first?.header("authorization") == "pod-token")
        let token = try MSKTokens.token(credentials, region: "eu-west-1", at: now)
        #expect(token.expiry == now.milliseconds + 60_000)
    }

    @Test(arguments: ["http://vendor.example/v1", "http://169.254.170.2.example/", "ftp://127.0.0.1/", "x"])
    func `credentials are not asked for in plain text elsewhere`(url: String) async {
        let failure = await #expect(throws: TokenFailure.self) {
            try await chain(["AWS_CONTAINER_CREDENTIALS_FULL_URI": url]).credentials(at: now)
        }
        #expect(failure?.message.contains("must be https") == true)
    }

    @Test func `a pod's web identity becomes a role`() async throws {
        let folder = try Folder()
        let agent = Agent(
            """
            {"AssumeRoleWithWebIdentityResponse":{"AssumeRoleWithWebIdentityResult":{"Credentials":
            {"AccessKeyId":"ID-ROLE","SecretAccessKey":"s","SessionToken":"t","Expiration":1.80000012E9}}}}
            """)
        let server = try await StubServer.start(agent, now: { now })
        let credentials = try await chain([
            "AWS_ENDPOINT_URL_STS": server.url, "AWS_ROLE_ARN": "arn:aws:iam::1:role/remint",
            "AWS_WEB_IDENTITY_TOKEN_FILE": try folder.write("web-token", to: "token", mode: 0o644),
        ]).credentials(at: now)
        await server.stop()
        let token = try MSKTokens.token(credentials, region: "eu-west-1", at: now)
        #expect(token.principal == "ID-ROLE")
        #expect(token.expiry == now.milliseconds + 120_000)
        let ask = try #require(agent.asks.first)
        let form = StubRequest(method: "", target: "/?" + String(decoding: ask.body, as: UTF8.self)).query
        #expect(form["Action"] == "AssumeRoleWithWebIdentity")
        #expect(form["RoleArn"] == "arn:aws:iam::1:role/remint")
        #expect(form["WebIdentityToken"] == "web-token")
        #expect(ask.header("accept") == "application/json")
    }
}
