import AdapterKit
import AsyncTestSupport
import Pipeline
import Testing

@Suite("A token's record, read back")
struct PublishedTokenTests {
    /// The record of a token of `vendor` for `user`.
    private static func record(
        _ vendor: TrustBench.Vendor, user: String = "u-42", seal: TokenSeal? = nil, _ headers: [RecordHeader] = []
    ) async throws -> OutputRecord {
        var processor = try TrustBench(seal: seal).processor()
        let event = EventShape.raw.record(vendor.app, vendor.report(user), headers: headers)
        return try #require(await processor.process([event]).first?.output)
    }

    @Test(arguments: TrustBench.vendors, [false, true])
    func `a published token reads back as it was written`(_ vendor: TrustBench.Vendor, _ isSealed: Bool) async throws {
        let recipient = try SealRecipient.of(.ecdhESA256KW)
        let record = try await Self.record(
            vendor, seal: isSealed ? recipient.seal : nil,
            [RecordHeader("remint-id", "e-1"), RecordHeader("remint-device", "d \"1\"")])
        let token = try PublishedToken(record.body, at: TrustBench.now)
        let json = try record.json
        #expect(token.app == vendor.app)
        #expect(token.vendor == vendor.app)
        #expect(token.subjectKey == record.key)
        #expect(token.subject.key(app: token.app) == token.subjectKey)
        #expect(token.token == json["token"]?.string)
        #expect(token.sealedFor == (isSealed ? "pickup-1" : nil))
        #expect(token.algorithm == json["algorithm"]?.string)
        #expect(token.keyID == "active")
        #expect(token.issuedAt == TrustBench.now.seconds)
        #expect(token.expiresAt == json["expires_at"]?.integer)
        #expect(token.version == TrustBench.now.microseconds)
        #expect(token.eventID == "e-1")
        #expect(token.device == "d \"1\"")
        #expect(token.challenge == (vendor.app == "dotdigital" ? "n-1" : nil))
        #expect((token.subject.user == nil) == (vendor.app == "bloomreach"))
    }

    @Test(arguments: TrustBench.vendors, ["a/b", "a,b=c", "%2F", "é", "e\u{301}", "🦊", "\\\"", "."])
    func `a user of any name reads back from a published token`(_ vendor: TrustBench.Vendor, _ user: String)
        async throws
    {
        let escaped = user == "\\\"" ? #"\\\""# : user
        let record = try await Self.record(vendor, user: escaped)
        let token = try PublishedToken(record.body, at: TrustBench.now)
        switch token.subject.identity {
        case .user(let id): #expect(id.hasSameBytes(as: user))
        case .identifiers(let ids): #expect(ids.map(\.value).elementsEqual([user]) { $0.hasSameBytes(as: $1) })
        }
    }

    /// A user's id that is called `user` is in the value as a single id is.
    @Test func `the record's key distinguishes an id named user from a single id`() throws {
        let subjects = [
            Subject(user: "u"), Subject(identifiers: [.init(name: "user", value: "u")]),
            Subject(user: "u", challenge: "c"),
        ]
        for subject in subjects {
            let token = try PublishedToken(Sample(subject: subject).body, at: TrustBench.now)
            #expect(token.subject == subject)
            #expect((token.subject.user == nil) == (subject.user == nil))
        }
    }

    /// A record by its parts.
    private struct Sample {
        var key: [UInt8]?
        var value: String?
        var headers = [
            RecordHeader("ce_source", "/remint/a"), RecordHeader("ce_type", "remint.token.replaced.v1"),
            RecordHeader("remint-key-id", "k"), RecordHeader("remint-expires-at", "20"),
            RecordHeader("remint-version", "3"),
        ]

        var body: RecordBody { RecordBody(key: key, value: value.map { Array($0.utf8) }, headers: headers) }

        init(subject: Subject = Subject(user: "u")) {
            key = subject.key(app: "a")
            let identity = String(decoding: ByteWriter.bytes { subject.write(to: &$0) }, as: UTF8.self)
            let challenge = subject.challenge.map { #","challenge":"\#($0)""# } ?? ""
            value =
                #"{"app":"a","vendor":"v","subject":\#(identity),"token":"e.e.e","algorithm":"RS256","key_id":"k","#
                + #""issued_at":10,"expires_at":20,"version":3,"event_id":"i"\#(challenge)}"#
        }

        static func with(_ change: (inout Sample) -> Void) -> RecordBody {
            var sample = Sample()
            change(&sample)
            return sample.body
        }

        static func replacing(_ old: String, _ new: String) -> RecordBody {
            with { sample in sample.value = sample.value?.replacing(old, with: new) }
        }

        static func header(_ name: String, _ value: String?) -> RecordBody {
            with { $0.headers.append(RecordHeader(name, value.map { Array($0.utf8) })) }
        }
    }

    struct Stranger: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let body: RecordBody

        init(_ name: String, _ body: RecordBody) {
            testDescription = name
            self.body = body
        }
    }

    static let strangers: [Stranger] = [
        Stranger("a tombstone", Sample.with { $0.value = nil }),
        Stranger("a tombstone without headers", RecordBody(key: Sample().key, value: nil, headers: [])),
        Stranger("nothing", RecordBody(bytes: [], keyLength: -1, headersLength: 0, hasValue: false)),
        Stranger("no bytes for a value", Sample.with { $0.value = "" }),
        Stranger("no key", Sample.with { $0.key = nil }),
        Stranger("an empty key", Sample.with { $0.key = [] }),
        Stranger("another user's key", Sample.with { $0.key = Array("a/v".utf8) }),
        Stranger("another app's key", Sample.with { $0.key = Array("b/u".utf8) }),
        Stranger("a key with a challenge that the value lacks", Sample.with { $0.key = Array("a/u/c".utf8) }),
        Stranger(
            "a challenge that the key lacks", Sample.replacing(#""event_id":"i""#, #""event_id":"i","challenge":"c""#)),
        Stranger("the key spelt otherwise", Sample.with { $0.key = Array("a/%75".utf8) }),
        Stranger("no headers", Sample.with { $0.headers = [] }),
        Stranger("another type", Sample.header("ce_type", "remint.token.replaced.v2")),
        Stranger("another source", Sample.header("ce_source", "/remint/b")),
        Stranger("another event in a header", Sample.header("ce_id", "j")),
        Stranger("a report's time that is none", Sample.header("remint-reported-at", "soon")),
        Stranger("a report's time that has not come", Sample.header("remint-reported-at", "9000000000000000")),
        Stranger("another key's id in a header", Sample.header("remint-key-id", "j")),
        Stranger("another end in a header", Sample.header("remint-expires-at", "21")),
        Stranger("another version in a header", Sample.header("remint-version", "4")),
        Stranger("a version spelt otherwise", Sample.header("remint-version", "+3")),
        Stranger("a version that is null", Sample.header("remint-version", nil)),
        Stranger("sealed in a header alone", Sample.header("remint-seal", "r")),
        Stranger("a null seal in a header", Sample.header("remint-seal", nil)),
        Stranger(
            "sealed in the value alone",
            Sample.replacing(#""token":"e.e.e""#, #""token":"e.e.e.e.e","sealed_for":"r""#)),
        Stranger("five parts and no seal", Sample.replacing("e.e.e", "e.e.e.e.e")),
        Stranger(
            "a seal on three parts",
            Sample.with {
                $0.value = $0.value?.replacing(#""token":"e.e.e""#, with: #""token":"e.e.e","sealed_for":"r""#)
                $0.headers.append(RecordHeader("remint-seal", "r"))
            }),
        Stranger("two parts", Sample.replacing("e.e.e", "e.e")),
        Stranger("an empty part", Sample.replacing("e.e.e", "e..e")),
        Stranger("no token", Sample.replacing("e.e.e", "")),
        Stranger("a token of other characters", Sample.replacing("e.e.e", "e.e=.e")),
        Stranger("a token that is a number", Sample.replacing(#""e.e.e""#, "7")),
        Stranger("a token that is null", Sample.replacing(#""e.e.e""#, "null")),
        Stranger("a device that is a number", Sample.replacing(#""event_id":"i""#, #""event_id":"i","device":7"#)),
        Stranger("no event's id", Sample.replacing(#","event_id":"i""#, "")),
        Stranger("no vendor", Sample.replacing(#""vendor":"v","#, "")),
        Stranger("no subject", Sample.replacing(#""subject":{"user":"u"},"#, "")),
        Stranger("an empty subject", Sample.replacing(#"{"user":"u"}"#, "{}")),
        Stranger("a subject that is a string", Sample.replacing(#"{"user":"u"}"#, #""u""#)),
        Stranger("a subject that is a number", Sample.replacing(#"{"user":"u"}"#, #"{"user":7}"#)),
        Stranger("two users", Sample.replacing(#"{"user":"u"}"#, #"{"user":"u","user":"v"}"#)),
        Stranger(
            "an app of no name", Sample.with { $0.value = $0.value?.replacing(#""app":"a""#, with: #""app":"""#) }),
        Stranger("another app in the value", Sample.replacing(#""app":"a""#, #""app":"b""#)),
        Stranger("a version with a fraction", Sample.replacing(#""version":3"#, #""version":3.0"#)),
        Stranger("an end before it began", Sample.replacing(#""issued_at":10"#, #""issued_at":20"#)),
        Stranger("issued before 1970", Sample.replacing(#""issued_at":10"#, #""issued_at":-1"#)),
        Stranger(
            "an end that no calendar has",
            Sample.with {
                $0.value = $0.value?.replacing(#""expires_at":20"#, with: #""expires_at":9223372036854775807"#)
                $0.headers.append(RecordHeader("remint-expires-at", "9223372036854775807"))
            }),
        Stranger(
            "the version nought",
            Sample.with {
                $0.value = $0.value?.replacing(#""version":3"#, with: #""version":0"#)
                $0.headers.append(RecordHeader("remint-version", "0"))
            }),
        Stranger("something behind the value", Sample.with { $0.value?.append("{}") }),
        Stranger("an array", Sample.with { $0.value = $0.value.map { "[\($0)]" } }),
        Stranger(
            "depth",
            Sample.replacing(
                #""event_id""#,
                #""more":\#(String(repeating: "[", count: 50_000))1\#(String(repeating: "]", count: 50_000)),"event_id""#
            )),
        Stranger(
            "more than a mebibyte",
            Sample.replacing(#""event_id":"i""#, #""event_id":"\#(String(repeating: "i", count: 1 << 20))""#)),
    ]

    @Test(arguments: strangers) func `a record that is no token's record is refused`(_ stranger: Stranger) {
        #expect(throws: RecordFault.self) { try PublishedToken(stranger.body, at: TrustBench.now) }
    }

    @Test func `the unspoiled sample is a token's record, even with unknown members and headers`() throws {
        #expect(try PublishedToken(Sample().body, at: TrustBench.now).version == 3)
        #expect(Self.isRead(Sample.replacing(#""event_id""#, #""more":{"of":["it"]},"event_id""#)))
        #expect(Self.isRead(Sample.header("remint-more", "1")))
        #expect(Self.isRead(Sample.header("remint-version", "3")), "the last of several counts")
    }

    private static func isRead(_ body: RecordBody) -> Bool {
        (try? PublishedToken(body, at: TrustBench.now)) != nil
    }

    /// Versions and times are a worker's, whose clock may be a day ahead and no more.
    @Test(
        arguments: [
            (0, RecordFault.version), (.min, .version), (-1, .version), (.max, .version), (1_000_001, .version),
            (1_000_000, nil), (1, nil),
        ] as [(Int64, RecordFault?)])
    func `a version more than a day ahead is refused`(_ version: Int64, _ fault: RecordFault?) throws {
        let body = Sample.with {
            $0.value = $0.value?.replacing(#""version":3"#, with: #""version":\#(version)"#)
            $0.headers.append(RecordHeader("remint-version", "\(version)"))
        }
        let now = UnixTime(microseconds: 1_000_000 - 86_400_000_000)
        // The sample was issued in 1970, so the clock's day must not be why.
        if let fault {
            #expect(throws: fault) { try PublishedToken(body, at: now) }
        } else {
            #expect(try PublishedToken(body, at: UnixTime(seconds: 100)).version == version)
        }
    }

    @Test(
        arguments: [
            (0, 367 * 86_400, true), (0, 367 * 86_400 + 1, false), (86_500, 86_600, true), (86_501, 86_600, false),
        ] as [(Int64, Int64, Bool)])
    func `a life that no vendor allows, or that begins tomorrow, is refused`(
        _ start: Int64, _ end: Int64, _ isRead: Bool
    ) {
        let body = Sample.with {
            $0.value = $0.value?.replacing(
                #""issued_at":10,"expires_at":20"#, with: #""issued_at":\#(start),"expires_at":\#(end)"#)
            $0.headers.append(RecordHeader("remint-expires-at", "\(end)"))
        }
        if isRead {
            #expect(throws: Never.self) { try PublishedToken(body, at: UnixTime(seconds: 100)) }
        } else {
            #expect(throws: RecordFault.time) { try PublishedToken(body, at: UnixTime(seconds: 100)) }
        }
    }

    /// Whatever becomes of the bytes: no crash, and no token that stands under another subject's key.
    @Test(.timeLimit(.minutes(5)), arguments: TrustBench.vendors)
    func `mutated records are refused, or read consistently`(_ vendor: TrustBench.Vendor) async throws {
        let recipient = try SealRecipient.of(.ecdhESA256KW)
        let bodies = [
            try await Self.record(vendor).body, try await Self.record(vendor, seal: recipient.seal).body,
        ]
        var generator = SeededGenerator(seed: 2026)
        var read = 0
        for round in 0..<Scale.rounds(2000) {
            let body = bodies[round % bodies.count].mutated(using: &generator)
            guard let token = try? PublishedToken(body, at: TrustBench.now) else { continue }
            read += 1
            #expect(token.subject.key(app: token.app) == body.key)
            #expect(body.text("remint-version") == "\(token.version)")
            #expect(body.text("remint-seal") == token.sealedFor)
            #expect(token.token.utf8.count { $0 == UInt8(ascii: ".") } == (token.sealedFor == nil ? 2 : 4))
        }
        // Most mutations change something that is checked; of many, some do not.
        #expect(read < Scale.rounds(1900) && (read > 0 || !Scale.isLong), "\(read)")
    }
}

extension RecordBody {
    /// This body with a few bytes changed, left out, put in or moved, or with lengths that are not its own.
    fileprivate func mutated(using generator: inout SeededGenerator) -> RecordBody {
        var (bytes, keyLength, headersLength, hasValue) = (bytes, keyLength, headersLength, hasValue)
        let lengths: [Int32] = [
            -1, 0, 1, keyLength, headersLength, .min, .max, .random(in: -9...9999, using: &generator),
        ]
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 3: bytes[place] = .random(in: 0...255, using: &generator)
            case 4: bytes.remove(at: place)
            case 5: bytes.insert(bytes[place], at: place)
            case 6: bytes.removeSubrange(place...)
            case 7: bytes.swapAt(place, .random(in: bytes.indices, using: &generator))
            case 8: keyLength = lengths.randomElement(using: &generator) ?? 0
            default:
                headersLength = lengths.randomElement(using: &generator) ?? 0
                hasValue = Bool.random(using: &generator)
            }
        }
        return RecordBody(bytes: bytes, keyLength: keyLength, headersLength: headersLength, hasValue: hasValue)
    }
}
