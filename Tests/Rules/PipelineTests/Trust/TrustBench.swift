import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import InfobipAdapter
@_spi(Signing) import JOSE
import OneSignalAdapter
import Pipeline
import Testing

/// A pipeline of all five vendors, each with an app that believes reports and one that believes the edge alone, with rings of
/// real keys in every state.
struct TrustBench {
    static let now = TestBench.now

    /// A vendor's smallest report, as far as it names anybody.
    struct Vendor: CustomTestStringConvertible, Sendable {
        let app: String
        /// A report that names this user; nil for one that names nobody.
        let report: @Sendable (String?) -> String
        /// The user that the edge vouches for.
        let vouched: @Sendable (String) -> String
        /// The subject key of this user's token.
        let key: @Sendable (String) -> String

        var testDescription: String { app }
    }

    static let vendors = [
        Vendor(
            app: "braze", report: { #"{"errorCode":22,"userId":\#($0.map { "\"\($0)\"" } ?? "7")}"# },
            vouched: { #"{"user":"\#($0)"}"# }, key: { $0 }),
        Vendor(
            app: "onesignal", report: { #"{"externalId":\#($0.map { "\"\($0)\"" } ?? "null")}"# },
            vouched: { #"{"user":"\#($0)"}"# }, key: { $0 }),
        Vendor(
            app: "bloomreach",
            report: {
                #"{"errorCode":"TOKEN_EXPIRED","customerIds":{\#($0.map { "\"registered\":\"\($0)\"" } ?? "")}}"#
            },
            vouched: { #"{"ids":{"registered":"\#($0)"}}"# }, key: { "registered=\($0)" }),
        Vendor(
            app: "dotdigital", report: { #"{"nonce":"n-1"\#($0.map { ",\"userId\":\"\($0)\"" } ?? "")}"# },
            vouched: { #"{"user":"\#($0)"}"# }, key: { "\($0)/n-1" }),
        Vendor(
            app: "infobip",
            report: { #"{"mm_code":"JWT_TOKEN_EXPIRED"\#($0.map { ",\"externalUserId\":\"\($0)\"" } ?? "")}"# },
            vouched: { #"{"user":"\#($0)"}"# }, key: { $0 }),
    ]

    /// Made once: an RSA key takes longer than a test.
    private static let keys = Result { try (0..<6).map { _ in try SigningKey.generate(.rs256) } }

    let signing: RingSigning
    let apps: [App]
    /// The keys of the ring of `braze` by their state, and one of another app.
    let braze: [String: SigningKey]

    init(seal: TokenSeal? = nil) throws {
        let keys = try Self.keys.get()
        let states = [
            "active": keys[0], "passive": keys[1], "prepared": keys[2], "retired": keys[3], "revoked": keys[4],
            "other": keys[5],
        ]
        braze = states
        let p256 = try SigningKey.generate(.es256)
        func secret(_ algorithm: Algorithm) throws -> SigningKey {
            try SigningKey(
                secret: SecretBytes(copying: "a secret of at least thirty-two bytes".utf8), algorithm: algorithm,
                keyID: "k")
        }
        let hmac = try secret(.hs256)
        let rings: [String: [(String, SigningKey)]] = [
            "braze": ["active", "passive", "prepared", "retired"].compactMap { state in
                states[state].map { (state, $0) }
            },
            "onesignal": [("active", p256)], "bloomreach": [("active", try secret(.hs512))],
            "dotdigital": [("active", hmac)], "infobip": [("active", hmac)], "other": [("active", keys[5])],
        ]
        signing = RingSigning(rings)
        let adapters: [(String, any Adapter)] = [
            ("braze", try BrazeAdapter(settings: .init())),
            ("onesignal", try OneSignalAdapter(settings: .init(appID: "a-1"))),
            ("bloomreach", try BloomreachAdapter(settings: .init(mode: .stream, ids: ["registered", "phone"]))),
            ("dotdigital", try DotdigitalAdapter(settings: .init(issuer: "i", audience: "a"))),
            ("infobip", try InfobipAdapter(settings: .init(applicationCode: "c"))),
        ]
        var apps: [App] = []
        for (name, adapter) in adapters {
            let life = adapter.lifetime.standard
            apps.append(App(name: name, adapter: adapter, keyRing: name, lifetime: life, seal: seal))
            apps.append(
                App(name: "\(name)-v", adapter: adapter, keyRing: name, lifetime: life, identity: .vouched))
        }
        let adapter = try BrazeAdapter(settings: .init())
        apps += [
            App(name: "proof", adapter: adapter, keyRing: "braze", lifetime: 3600, proof: .ownToken),
            App(name: "other", adapter: adapter, keyRing: "other", lifetime: 3600),
            App(name: "apart", adapter: adapter, keyRing: "braze", lifetime: 3600, topics: ["apart.failures"]),
        ]
        self.apps = apps
    }

    func processor(_ admission: AdmissionRules = AdmissionRules()) -> BatchProcessor {
        BatchProcessor(
            apps: apps, signing: signing, maximumEventBytes: 1 << 20, admission: admission,
            random: SeededGenerator(seed: 1), now: { Self.now })
    }

    /// A Braze token of `user`, signed by the key of this state.
    func token(of user: String, signedBy state: String, expiresIn life: Int64 = 3600) throws -> String {
        try Self.jws(
            #"{"alg":"RS256","typ":"JWT"}"#, #"{"sub":"\#(user)","exp":\#(Self.now.seconds + life)}"#,
            try #require(braze[state]))
    }

    /// A compact JWS of these parts.
    static func jws(_ header: String, _ claims: String, _ key: SigningKey) throws -> String {
        var input: [UInt8] = []
        Base64.url.encode(Array(header.utf8), appendingTo: &input)
        input.append(UInt8(ascii: "."))
        Base64.url.encode(Array(claims.utf8), appendingTo: &input)
        let signature = try Signer(key).sign(input)
        input.append(UInt8(ascii: "."))
        Base64.url.encode(signature, appendingTo: &input)
        return String(decoding: input, as: UTF8.self)
    }
}

/// A signing port of whole rings, whose versions can be verified.
final class RingSigning: SigningPort {
    private let rings: [String: [(state: String, key: SigningKey)]]

    init(_ rings: [String: [(String, SigningKey)]]) { self.rings = rings.mapValues { $0.map { (state: $0, key: $1) } } }

    func activeKey(of ring: String) -> SigningKeyReference? {
        rings[ring]?.first { $0.state == "active" }.map {
            SigningKeyReference(
                ring: ring, version: "active", keyID: $0.key.keyID ?? "k", algorithm: $0.key.algorithm, retireAfter: nil
            )
        }
    }

    func verificationKeys(of ring: String) -> [RingKey] {
        (rings[ring] ?? []).compactMap { version in
            TokenSigner(rawValue: version.state).map {
                RingKey(version.key.verificationKey, version: version.state, signer: $0)
            }
        }
    }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        requests.map { request in
            guard let key = rings[request.key.ring]?.first(where: { $0.state == "active" })?.key,
                let signature = try? Signer(key).sign(request.input.bytes)
            else { return .failure(Rejection(.mintFailed, "no key")) }
            return .success(signature)
        }
    }
}

/// One of the four ways an event is written.
enum EventShape: String, CaseIterable, Sendable {
    case envelope, structured, binary, raw

    /// The event of `app` with this report and this vouched user.
    func record(
        _ app: String, _ report: String, vouched: String? = nil, topic: String = "remint.invalidations",
        headers: [RecordHeader] = []
    ) -> InputRecord {
        let (value, own): (String, [RecordHeader]) =
            switch self {
            case .envelope:
                (#"{"app":"\#(app)","report":\#(report)\#(vouched.map { #","vouched":\#($0)"# } ?? "")}"#, [])
            case .structured:
                (
                    #"{"specversion":"1.0","app":"\#(app)","data":\#(report)\#(vouched.map { #","vouched":\#(Self.quoted($0))"# } ?? "")}"#,
                    [RecordHeader("content-type", "application/cloudevents+json")]
                )
            case .binary:
                (
                    report,
                    [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", app)]
                        + (vouched.map { [RecordHeader("ce_vouched", $0)] } ?? [])
                )
            case .raw:
                (
                    report,
                    [RecordHeader("remint-app", app)] + (vouched.map { [RecordHeader("remint-vouched", $0)] } ?? [])
                )
            }
        return InputRecord(
            origin: RecordPosition(topic: topic, partition: 0, offset: 7), timestamp: TrustBench.now, key: nil,
            value: Array(value.utf8), headers: own + headers)
    }

    private static func quoted(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
