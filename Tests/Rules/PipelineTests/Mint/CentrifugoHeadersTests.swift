import AdapterKit
import Pipeline
import Testing

@Suite("Headers for Centrifugo's consumer")
struct CentrifugoHeadersTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let event: InputRecord
        /// Nil where there are to be no headers.
        let channel: String?
        let hasVersion: Bool

        init(_ name: String, _ event: InputRecord, _ channel: String?, hasVersion: Bool = true) {
            testDescription = name
            self.event = event
            self.channel = channel
            self.hasVersion = hasVersion
        }

        static func user(_ name: String, _ user: String, _ channel: String?) -> Case {
            Case(name, .raw(SampleReport.braze(user: user), app: "shop-ios"), channel)
        }
    }

    /// As long as a user may be in a channel of `shop-ios`.
    private static let longest = 255 - "remint:shop-ios#".utf8.count

    static let cases: [Case] = [
        .user("a plain user", "user-42", "remint:shop-ios#user-42"),
        .user("unreserved characters", "a-b.c_d~e", "remint:shop-ios#a-b.c_d~e"),
        .user("a comma, which would part users", "a,b", "remint:shop-ios#a%2Cb"),
        .user("a slash", "a/b", "remint:shop-ios#a%2Fb"),
        .user("what parts a channel", "a:b#c;d&e*$", "remint:shop-ios#a%3Ab%23c%3Bd%26e%2A%24"),
        .user("what is encoded already", "a%2Cb", "remint:shop-ios#a%252Cb"),
        .user("marks that encodeURIComponent keeps", "!'()*", "remint:shop-ios#%21%27%28%29%2A"),
        .user("unicode", "Zoë 🦊", "remint:shop-ios#Zo%C3%AB%20%F0%9F%A6%8A"),
        .user("a separator of lines", "a\u{2028}b", "remint:shop-ios#a%E2%80%A8b"),
        Case(
            "an id by its name", .raw(SampleReport.bloomreach(), app: "web"), "remint:web#registered=ann%40example.com"),
        Case(
            "several ids",
            .raw(
                #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"a,b","crm":"7/8","e=f":"g"}}"#, app: "web"),
            "remint:web#crm=7%2F8;e%3Df=g;registered=a%2Cb"),
        Case(
            "a challenge", .raw(SampleReport.challenge(), app: "push"), "remint:push#user-42", hasVersion: false),
        Case(
            "a challenge with a slash and a comma in both",
            .raw(SampleReport.challenge(user: "a/,", nonce: "n/,1"), app: "push"), "remint:push#a%2F%2C",
            hasVersion: false),
        Case(
            "a long challenge, which is no part of it",
            .raw(SampleReport.challenge(nonce: String(repeating: "n", count: 600)), app: "push"), "remint:push#user-42",
            hasVersion: false),
        .user(
            "as long as a channel may be", String(repeating: "u", count: longest),
            "remint:shop-ios#" + String(repeating: "u", count: longest)),
        .user("one character longer", String(repeating: "u", count: longest + 1), nil),
        .user("longer once it is encoded", String(repeating: ",", count: longest / 3 + 1), nil),
    ]

    @Test(arguments: cases) func `a token's record names one channel at most, the user's`(_ given: Case) async throws {
        let settlement = try await TestBench(publication: .centrifugo).settle(given.event)
        let output = try #require(settlement.output)
        #expect(settlement.outcome == .minted)
        let version = try #require(output.headers.text("remint-version"))
        #expect(output.values("x-centrifugo-channels") == (given.channel.map { [$0] } ?? []))
        #expect(output.values("x-centrifugo-idempotency-key") == (given.channel == nil ? [] : [version]))
        #expect(output.values("x-centrifugo-version") == (given.channel != nil && given.hasVersion ? [version] : []))
        if let channel = given.channel {
            #expect(!channel.contains(",") && channel.count { $0 == "#" } == 1 && channel.utf8.count <= 255)
        }
        // Everything else is as it is without them.
        let plain = try #require(try await TestBench().settle(given.event).output)
        #expect(plain.value == output.value && plain.key == output.key)
        #expect(plain.headers == output.headers.filter { !$0.name.hasPrefix("x-centrifugo-") })
    }

    @Test func `Centrifugo's headers are beside the seal's and before the ones passed through`() async throws {
        let bench = try TestBench(seal: SealRecipient.of(.ecdhESA256KW).seal, publication: .centrifugo)
        let event = InputRecord.raw(
            SampleReport.braze(), app: "shop-ios", [RecordHeader("traceparent", "00-1-2-01")])
        let output = try #require(try await bench.settle(event).output)
        #expect(
            output.headers.map(\.name).suffix(6) == [
                "remint-version", "remint-seal", "x-centrifugo-channels", "x-centrifugo-idempotency-key",
                "x-centrifugo-version", "traceparent",
            ])
    }

    @Test func `only a token's record has Centrifugo's headers`() async throws {
        let bench = try TestBench(publication: .centrifugo)
        let event = InputRecord.raw(
            SampleReport.braze(code: 25), app: "shop-ios", [RecordHeader("x-centrifugo-channels", "everybody")])
        let letter = try await bench.settle(event)
        #expect(letter.outcome == .deadLettered(.notFixableByToken))
        let minted = try #require(
            try await TestBench().settle(
                .raw(
                    SampleReport.braze(), app: "shop-ios", [RecordHeader("x-centrifugo-channels", "everybody")])
            ).output)
        #expect(!minted.body.has("x-centrifugo-channels"), "a device's own headers end with its event")
    }
}
