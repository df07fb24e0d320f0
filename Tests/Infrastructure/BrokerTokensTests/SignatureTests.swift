import BrokerTokens
import Formats
import Foundation
import JOSE
import Kafka
import ProgramTestSupport
import Testing

/// AWS's published vectors for signed URLs (awslabs/aws-c-auth, tests/aws-signing-test-suite/v4, the `query-` files), and what
/// AWS's own library for Python makes.
@Suite struct SignatureTests {
    private static let moment = RFC3339.parse("2015-08-30T12:36:00Z")
    private static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    private static let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        var parameters: [(name: String, value: String)] = []
        var token: String?
        let signature: String
        var testDescription: String { name }
    }

    static let vectors = [
        Vector(name: "get-vanilla", signature: "e93c787ed7f371d5c6b165c1b38ede9550f4dce4144713e844b25b7192d3865d"),
        Vector(
            name: "get-vanilla-empty-query-key", parameters: [("Param1", "value1")],
            signature: "49096700cbbaa5753443850f40df10f904fc2fdb544dc9512203cc77c471a9de"),
        Vector(
            name: "get-vanilla-query-order-key-case", parameters: [("Param2", "value2"), ("Param1", "value1")],
            signature: "86012e2c9ad4d77369f5d81c11f75158aae4f895a085212cc6d3f923d300bed5"),
        Vector(
            name: "get-vanilla-query-order-encoded",
            parameters: [("Param-3", "Value3"), ("Param", "Value2"), ("\u{1234}", "Value1")],
            signature: "c5f1848ceec943ac2ca68ee720460c23aaae30a2300586597ada94c4a65e4787"),
        Vector(
            name: "get-vanilla-query-unreserved", parameters: [(unreserved, unreserved)],
            signature: "8e76a88a7433637b12778d5592799b29ad21ecd6cf6325051c21d86f0acda2bf"),
        Vector(
            name: "get-vanilla-utf8-query", parameters: [("\u{1234}", "bar")],
            signature: "0bdd809b1519ac4f0c1dc3540e2cc46bd0c7f778eda408b2ebf3b913d21ff600"),
        Vector(
            name: "get-vanilla-with-session-token",
            token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
            signature: "7ff2b50b376cb4d151970630573d6291dc128cc5c2a12ffb237f73cc53f67b6c"),
    ]

    @Test(arguments: vectors) func `signatures match AWS's published vectors`(_ vector: Vector) throws {
        let credentials = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secret: SecretBytes(copying: Self.secret.utf8), sessionToken: vector.token)
        let url = try SignatureV4(credentials: credentials, region: "us-east-1", service: "service").presignedURL(
            host: "example.amazonaws.com", parameters: vector.parameters, at: try #require(Self.moment), validFor: 3600)
        #expect(url.hasSuffix("&X-Amz-Signature=\(vector.signature)"), "\(url)")
        #expect(url.hasPrefix("https://example.amazonaws.com/?"))
    }

    @Test func `a token for MSK is a signed URL, and ends with its credentials`() throws {
        let now = try #require(RFC3339.parse("2024-02-29T23:59:59.75Z"))
        let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secret: SecretBytes(copying: Self.secret.utf8))
        let token = try MSKTokens.token(credentials, region: "eu-central-1", at: now)
        #expect(token.expiry == (now.seconds + 900) * 1000)
        let url = String(decoding: try Base64.url.decode(Array(token.text.utf8)[...]), as: UTF8.self)
        #expect(
            url.hasPrefix(
                "https://kafka.eu-central-1.amazonaws.com/?Action=kafka-cluster%3AConnect&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20240229%2Feu-central-1%2Fkafka-cluster%2Faws4_request&X-Amz-Date=20240229T235959Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature="
            ), "\(url)")
        #expect(url.hasSuffix("&User-Agent=remint"))
        let ending = AWSCredentials(
            accessKeyID: "AKIDEXAMPLE", secret: SecretBytes(copying: Self.secret.utf8), sessionToken: "s",
            expiry: now.advanced(bySeconds: 60))
        #expect(try MSKTokens.token(ending, region: "eu-central-1", at: now).expiry == (now.milliseconds + 60_000))
    }

    @Test func `a secret shows nowhere`() {
        let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secret: SecretBytes(copying: Self.secret.utf8))
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!"\(credentials) \(dumped)".contains("wJalr") && !dumped.contains("AKID"))
    }

    @Test(.enabled(if: Botocore.isThere, Botocore.isMissing)) func `AWS's own library makes the same token`()
        async throws
    {
        let now = try #require(RFC3339.parse("2026-07-04T01:02:03Z"))
        let token = "FwoGZXIvYXdzEBYa+/token=="
        let credentials = AWSCredentials(
            accessKeyID: "ASIAEXAMPLE", secret: SecretBytes(copying: Self.secret.utf8), sessionToken: token)
        let mine = try MSKTokens.token(credentials, region: "us-west-2", at: now).text
        let theirs = try await Botocore.signature(
            id: "ASIAEXAMPLE", secret: Self.secret, token: token, region: "us-west-2", time: "20260704T010203Z")
        let url = String(decoding: try Base64.url.decode(Array(mine.utf8)[...]), as: UTF8.self)
        #expect(theirs.count == 64)
        #expect(url.contains("X-Amz-Signature=\(theirs)"))
    }
}

/// AWS's library for Python, which signs for the signer of MSK.
enum Botocore {
    static let isMissing: Comment = "python3 has no module botocore; pip install botocore"
    static let isThere = PythonModules.areInstalled("botocore.auth")

    private static let script = """
        import sys, datetime, botocore.auth as auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
        key, secret, token, region, moment = sys.argv[1:6]
        now = datetime.datetime.strptime(moment, '%Y%m%dT%H%M%SZ')
        if hasattr(auth, 'get_current_datetime'):
            auth.get_current_datetime = lambda *a, **k: now
        class Clock(datetime.datetime):
            @classmethod
            def utcnow(cls): return now
        if not hasattr(auth, 'get_current_datetime'): auth.datetime.datetime = Clock
        request = AWSRequest('GET', 'https://kafka.%s.amazonaws.com/' % region, params={'Action': 'kafka-cluster:Connect'})
        auth.SigV4QueryAuth(Credentials(key, secret, token), 'kafka-cluster', region, expires=900).add_auth(request)
        print(request.url.split('X-Amz-Signature=')[1].split('&')[0], end='')
        """

    static func signature(
        id: String, secret: String, token: String, region: String, time: String
    ) async throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, id, secret, token, region, time]
        let file = FileManager.default.temporaryDirectory.appending(path: "botocore-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try FileHandle(forWritingTo: file)
        process.standardOutput = output
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        try output.close()
        return try String(contentsOf: file, encoding: .utf8)
    }
}
