import AdapterKit
import AdapterTestSupport
import BloomreachAdapter
import Testing

@Suite struct BloomreachTokenTests {
    private static let stream = #"{"mode":"stream"}"#
    private static let customer = #"{"mode":"customer_token"}"#
    private let user = Subject(identifiers: [.init(name: "registered", value: "u@example.com")])

    @Test func `the two samples of Bloomreach's documentation are made byte for byte`() throws {
        let stream = try makeAdapter(BloomreachAdapter.self, Self.stream).parts(for: user, keyID: "stream-key-A")
        #expect(stream.header == #"{"alg":"HS512","typ":"JWT","kid":"stream-key-A"}"#)
        #expect(stream.claims == #"{"exp":1800000900,"ids":{"registered":"u@example.com"}}"#)
        let customer = try makeAdapter(BloomreachAdapter.self, Self.customer).parts(for: user, keyID: "api-key-A")
        #expect(customer.header == #"{"alg":"HS256","typ":"JWT","kid":"api-key-A"}"#)
        #expect(customer.claims == #"{"sub":{"registered":"u@example.com"},"exp":1800003600}"#)
    }

    @Test func `several ids of a token are sorted by name`() throws {
        let ids = Subject(identifiers: [.init(name: "registered", value: "r"), .init(name: "email_id", value: "e")])
        let parts = try makeAdapter(BloomreachAdapter.self, Self.stream).parts(for: ids, keyID: "k")
        #expect(parts.claims == #"{"exp":1800000900,"ids":{"email_id":"e","registered":"r"}}"#)
    }

    @Test func `each mode of Bloomreach's adapter has its algorithm and lifetime`() throws {
        let stream = try makeAdapter(BloomreachAdapter.self, Self.stream)
        #expect(stream.algorithm == .hs512)
        #expect(stream.secretEncoding == .utf8)
        #expect(stream.lifetime.standard == 900)
        #expect(stream.lifetime.allowed.lowerBound == 120)
        let customer = try makeAdapter(BloomreachAdapter.self, Self.customer)
        #expect(customer.algorithm == .hs256)
        #expect(customer.secretEncoding == .utf8)
        #expect(customer.lifetime.standard == 3600)
        for adapter in [stream, customer] {
            let error = #expect(throws: Rejection.self) { try adapter.parts(for: user, keyID: nil) }
            #expect(error?.code == .keyUnavailable)
            let lacking = #expect(throws: Rejection.self) { try adapter.parts(for: Subject(user: "u"), keyID: "k") }
            #expect(lacking?.code == .mintFailed)
        }
    }

    @Test(arguments: [#"{"mode":"stream","ids":[]}"#, #"{"mode":"customer_token","ids":[]}"#])
    func `an empty list of ids is refused`(_ settings: String) {
        let error = #expect(throws: SettingsError.self) { try makeAdapter(BloomreachAdapter.self, settings) }
        #expect(error?.key == "ids")
        #expect(error?.message.isEmpty == false)
    }

    @Test(arguments: [
        "{}", #"{"mode":"both"}"#, #"{"mode":"Stream"}"#, #"{"mode":null}"#, #"{"mode":"stream","ids":"registered"}"#,
        #"{"mode":"stream","ids":[7]}"#,
    ])
    func `settings of another shape are refused by Bloomreach's adapter`(_ settings: String) {
        #expect(throws: DecodingError.self) { try makeAdapter(BloomreachAdapter.self, settings) }
    }

    @Test(
        .enabled(if: Joserfc.isInstalled, "\(Joserfc.isMissing)"), .timeLimit(.minutes(5)),
        arguments: [stream, customer])
    func `Bloomreach's tokens and joserfc's are verified both ways`(_ settings: String) async throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, settings)
        let secret = "a secret of letters and d1g1ts"
        let key = try SigningKey(text: secret, adapter.algorithm, keyID: "key-A")
        let parts = try adapter.parts(for: user, keyID: "key-A")
        let ours = try adapter.token(for: user, key: key)
        #expect(
            try await Joserfc.verify(ours, adapter.algorithm.rawValue, .text(secret))
                == "\(parts.header)\n\(parts.claims)")
        let end = adapter.algorithm == .hs512 ? "1800000900" : "1800003600"
        let claims = parts.claims.split(separator: end, omittingEmptySubsequences: false).joined(
            separator: "1800000001")
        let theirs = try #require(
            try await Joserfc.sign(header: parts.header, claims: claims, adapter.algorithm.rawValue, .text(secret)))
        #expect(adapter.verdict(on: theirs, keys: [key], expecting: user) == "accepted")
        #expect(
            adapter.verdict(on: theirs, keys: [key], expecting: user, at: now.advanced(bySeconds: 1)).hasPrefix("401 "))
    }
}
