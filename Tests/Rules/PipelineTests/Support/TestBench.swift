import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import Pipeline
import Testing

/// A pipeline of three real vendors, with keys of this process and a clock that stands still.
struct TestBench {
    static let now = UnixTime(microseconds: 1_763_640_000_123_456)

    /// Made once: an RSA key takes longer than a test.
    private static let keys = Result { (try SigningKey.generate(.rs256), try SigningKey.generate(.rs256)) }

    let signing = InMemorySigning()
    let clock = ManualClock(now)
    let brazeKey: SigningKey
    let otherBrazeKey: SigningKey
    let pushKey: SigningKey
    let dataKey: SigningKey
    let apps: [App]

    init(
        missingUser: MissingUser = .deadLetter, seal: TokenSeal? = nil, publication: TokenPublication = .none
    ) throws {
        (brazeKey, otherBrazeKey) = try Self.keys.get()
        pushKey = try SigningKey(
            secret: SecretBytes(copying: "a push secret of thirty-two byte".utf8), algorithm: .hs256)
        dataKey = try SigningKey(
            secret: SecretBytes(copying: "a data secret".utf8), algorithm: .hs512, keyID: "stream-1")
        apps = [
            App(
                name: "shop-ios", adapter: try BrazeAdapter(settings: .init()), keyRing: "shop-braze", lifetime: 43_200,
                missingUser: missingUser, seal: seal, publication: publication),
            App(
                name: "push",
                adapter: try DotdigitalAdapter(settings: .init(issuer: "acme", audience: "https://push.example")),
                keyRing: "shop-push", lifetime: 900, missingUser: missingUser, seal: seal, publication: publication),
            App(
                name: "web",
                adapter: try BloomreachAdapter(settings: .init(mode: .stream, ids: ["registered", "crm", "e=f"])),
                keyRing: "shop-data", lifetime: 900, missingUser: missingUser, seal: seal, publication: publication),
        ]
        signing.activate(brazeKey, in: "shop-braze")
        signing.activate(pushKey, in: "shop-push", version: "push-1")
        signing.activate(dataKey, in: "shop-data", version: "data-1")
    }

    func processor(
        _ port: (any SigningPort)? = nil, maximumEventBytes: Int = 1 << 20, admission: AdmissionRules = .init(),
        retries: RetryPolicy = .standard
    ) -> BatchProcessor {
        let clock = clock
        return BatchProcessor(
            apps: apps, signing: port ?? signing, maximumEventBytes: maximumEventBytes, admission: admission,
            retries: retries, random: SeededGenerator(seed: 1), now: { clock.now })
    }

    /// The end of `record` alone.
    func settle(_ record: InputRecord, _ port: (any SigningPort)? = nil) async throws -> Settlement {
        var processor = processor(port)
        let settlements = await processor.process([record])
        try #require(settlements.count == 1)
        return try #require(settlements.first)
    }
}

extension AdmissionRules {
    /// Every event is answered with a token of its own.
    static let off = AdmissionRules(subjects: 0)
}

/// Reports as the SDKs shape them.
enum SampleReport {
    /// The signature that must never appear outside the value of a dead letter.
    static let signature = "eyJhbGciOiJSUzI1NiJ9.c2VjcmV0LW9mLWEtcmVwb3J0.c2lnbmF0dXJl"

    static func braze(user: String = "user-42", code: Int = 22, token: String = signature) -> String {
        #"{"errorCode":\#(code),"errorReason":"sdk_auth_error","userId":"\#(user)","signature":"\#(token)"}"#
    }

    static func challenge(user: String = "user-42", nonce: String = "nonce-1", expiresOn: String? = nil) -> String {
        let end = expiresOn.map { #","expiresOn":"\#($0)""# } ?? ""
        return #"{"provider":"jsonWebToken","nonce":"\#(nonce)","userId":"\#(user)"\#(end)}"#
    }

    static func bloomreach(id: String = "ann@example.com", code: String = "TOKEN_EXPIRED") -> String {
        #"{"errorCode":"\#(code)","customerIds":{"registered":"\#(id)","cookie":"c-1"}}"#
    }
}

extension InputRecord {
    /// A record with this value, at `offset` of the live lane.
    static func sample(
        _ value: [UInt8]?, headers: [RecordHeader] = [], key: String? = "some key", offset: Int64 = 7,
        timestamp: UnixTime? = UnixTime(milliseconds: 1_763_639_999_500)
    ) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: "remint.invalidations", partition: 3, offset: offset), timestamp: timestamp,
            key: key.map { Array($0.utf8) }, value: value, headers: headers)
    }

    static func sample(
        _ text: String, headers: [RecordHeader] = [], key: String? = "some key", offset: Int64 = 7,
        timestamp: UnixTime? = UnixTime(milliseconds: 1_763_639_999_500)
    ) -> InputRecord {
        sample(Array(text.utf8), headers: headers, key: key, offset: offset, timestamp: timestamp)
    }

    /// A raw report for `app`.
    static func raw(_ report: String, app: String, offset: Int64 = 7, _ more: [RecordHeader] = []) -> InputRecord {
        sample(report, headers: [RecordHeader("remint-app", app)] + more, offset: offset)
    }
}

extension OutputRecord {
    /// The values of `name`, in order.
    func values(_ name: String) -> [String?] { headers.filter { $0.name == name }.map(\.text) }

    /// The value as JSON.
    var json: JSONValue {
        get throws { try JSONDocument(parsing: #require(value)).root }
    }

    /// This record, as it is taken from its retry tier when its moment has come.
    func fromTier(at now: UnixTime, offset: Int64 = 0) throws -> InputRecord {
        guard case .retries(let tier) = destination else {
            throw Rejection(.malformedEvent, "it is on its way to \(destination)")
        }
        return InputRecord(
            origin: RecordPosition(topic: "remint.retries.\(tier)", partition: 0, offset: offset), timestamp: now,
            key: key,
            value: value, headers: headers, lane: .retries, tier: tier)
    }

    /// The token in the value.
    var token: [UInt8] {
        get throws { Array(try #require(json["token"]?.string).utf8) }
    }
}

extension Event {
    /// The report, where the event holds one.
    var report: JSONValue {
        get throws {
            guard case .report(let report) = body else { throw Rejection(.malformedEvent, "it asks for a new token") }
            return report
        }
    }
}
