import AdapterKit
import AsyncTestSupport
@_spi(Signing) import JOSE
import Keyring
import Pipeline
import Synchronization
import Testing
import WorkerTestSupport

@testable import Signing

/// Tests of a worker whose signer is broken or compromised.
@Suite(.timeLimit(.minutes(5))) struct SignerDistrustTests {
    /// Wrong answers to one request, and how they end.
    enum Fault: CaseIterable {
        case otherKey, otherInput, otherAlgorithm, empty, tooFew, tooMany, cannotSign, unavailable, policy
        case garbage, hugeLength, otherVersion, otherQuestion, unasked, hangsUp, silent, shortSecret

        var ring: String { self == .shortSecret ? "HS512" : "RS256" }

        /// The result of the request in the metrics.
        var result: String {
            switch self {
            case .silent: "overdue"
            case .hangsUp: "unreachable"
            case .garbage, .hugeLength, .otherVersion, .otherQuestion, .unasked: "malformed"
            default: "refused"
            }
        }

        var code: ErrorCode {
            switch self {
            case .unavailable, .hangsUp, .silent: .keyUnavailable
            default: .mintFailed
            }
        }

        /// Whether somebody should look at the signer. One that stopped is detected by the question after its keys.
        var isTrouble: Bool { ![.unavailable, .hangsUp].contains(self) }
    }

    private struct Keys: Sendable {
        let rings: [PublishedRing]
        let keys: [String: SigningKey]
        let otherKey: SigningKey
        let otherAlgorithm: SigningKey

        init(_ bench: borrowing SignerBench) throws {
            rings = [PublishedRing(try bench.ring("RS256")), PublishedRing(try bench.ring("HS512"))]
            keys = bench.keys
            otherKey = try SigningKey.generate(.rs256, keyID: "k1")
            let pem = try #require(try bench.keys["RS256"]?.privateKeyPEM())
            otherAlgorithm = try SigningKey(pem: pem, algorithm: .rs512, keyID: "k1")
        }

        func honest(_ frame: SignerFrame) -> ScriptedSigner.Reply {
            switch frame {
            case .keysRequest(let id): .frame(.keys(id: id, rings))
            case .signRequest(let id, _, let items):
                .frame(
                    .signatures(
                        id: id,
                        items.map { item in
                            keys[item.ring].flatMap { signature($0, item.input) } ?? .keyUnavailable
                        }))
            case .keys, .signatures, .closing: .hangUp
            }
        }

        func signature(_ key: SigningKey, _ input: [UInt8]) -> SignerFrame.Answer? {
            (try? Signer(key).sign(input)).map { .signature($0) }
        }

        /// Like an honest signer, except for signatures.
        func faulty(_ fault: Fault, _ frame: SignerFrame) -> ScriptedSigner.Reply {
            guard case .signRequest(let id, _, let items) = frame, let item = items.first,
                let right = keys[item.ring].flatMap({ signature($0, item.input) })
            else { return honest(frame) }
            func answer(_ answers: SignerFrame.Answer?...) -> ScriptedSigner.Reply {
                .frame(.signatures(id: id, answers.compactMap { $0 }))
            }
            return switch fault {
            case .otherKey: answer(signature(otherKey, item.input))
            case .otherInput: answer(keys[item.ring].flatMap { signature($0, Array("e30.e30".utf8)) })
            case .otherAlgorithm: answer(signature(otherAlgorithm, item.input))
            case .empty: answer(.signature([]))
            case .tooFew: answer()
            case .tooMany: answer(right, right)
            case .cannotSign: answer(.failed)
            case .unavailable: answer(.keyUnavailable)
            case .policy: answer(.refused(.expiry))
            case .garbage: .bytes([0, 0, 0, 12] + (0..<12).map { UInt8($0 * 19) })
            case .hugeLength: .bytes([0xFF, 0xFF, 0xFF, 0xFF, 2, 130])
            case .otherVersion: .bytes([0, 0, 0, 14, 1, 130, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
            case .otherQuestion: .frame(.keys(id: id, rings))
            case .unasked: .frame(.signatures(id: id + 1000, [right]))
            case .hangsUp: .hangUp
            case .silent: .nothing
            case .shortSecret: answer(.signature([UInt8](repeating: 1, count: 32)))
            }
        }
    }

    @Test(arguments: Fault.allCases) func `a faulty signer is not believed, and is used again once it is right`(
        fault: Fault
    )
        async throws
    {
        let bench = try SignerBench([.rs256, .hs512])
        let keys = try Keys(bench)
        let signer = ScriptedSigner { keys.faulty(fault, $0) }
        try await signer.listening(bench.socket) {
            let timeout: Duration = fault == .silent ? .milliseconds(200) : WorkerTestSupport.patience
            let wanted: [String: Set<Algorithm>] = ["RS256": [.rs256], "HS512": [.hs512]]
            try await ClientBench.with(bench.socket, wanted, timeout: timeout) { client in
                await client.signer.waitForKeys(within: WorkerTestSupport.patience)
                guard case .failure(let rejection) = try await client.signOne(fault.ring) else {
                    Issue.record("the signature was believed")
                    return
                }
                #expect(rejection.code == fault.code, "\(rejection)")
                func count(_ result: String) -> Double? {
                    client.metric(#"remint_signer_requests_total{socket="\#(bench.socket)",result="\#(result)"}"#)
                }
                #expect(count(fault.result) == 1)
                #expect(count("signed") == 0)
                // On a busy machine the client may give up before the request arrives.
                try await eventually("the request") { signer.signRequests >= 1 }
                #expect(signer.signRequests == 1, "nothing is sent twice")
                if fault.isTrouble {
                    #expect(client.problem?.contains("the signer at") == true)
                    #expect(client.errors.count >= 1)
                }
                signer.answer { keys.honest($0) }
                try await eventually("a right signature") { (try? await client.signOne(fault.ring).get()) != nil }
                try await eventually("the problem's end") { client.problem == nil }
                #expect(count("signed") == 1)
                #expect(client.metric(#"remint_signer_reachable{socket="\#(bench.socket)"}"#) == 1)
            }
        }
    }

    @Test func `a faulty signer is reported once, however many signatures are wrong`() async throws {
        let bench = try SignerBench([.rs256, .hs512])
        let keys = try Keys(bench)
        let signer = ScriptedSigner { keys.faulty(.otherKey, $0) }
        try await signer.listening(bench.socket) {
            try await ClientBench.with(bench.socket, ["RS256": [.rs256]]) { client in
                await client.signer.waitForKeys(within: patience)
                for _ in 0..<20 { #expect((try? await client.signOne("RS256").get()) == nil) }
                #expect(client.errors == ["gave a signature that is not one of the version k1 of RS256"])
            }
        }
    }

    /// A signer's claim about the ring `RS256`, and the worker's message about it.
    struct Claim: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let versions: [PublishedRing.Version]?
        let says: String
    }

    private static func version(
        _ id: String = "k1", _ algorithm: String = "RS256", pem: String?,
        state: PublishedRing.Version.State = .active
    ) -> PublishedRing.Version {
        .init(id: id, state: state, algorithm: algorithm, keyID: id, retireAfter: nil, publicKeyPEM: pem)
    }

    @Test func `keys that do not fit leave the ring without one`() async throws {
        let bench = try SignerBench([.rs256, .hs512])
        let keys = try Keys(bench)
        let pem = try #require(try bench.keys["RS256"]?.verificationKey.publicKeyPEM())
        let ecPEM = try #require(try SigningKey.generate(.es256).verificationKey.publicKeyPEM())
        let claims = [
            Claim(testDescription: "no such ring", versions: nil, says: "has no key ring RS256"),
            Claim(testDescription: "no version", versions: [], says: "no active version"),
            Claim(
                testDescription: "none active", versions: [Self.version(pem: pem, state: .passive)],
                says: "no active version"),
            Claim(
                testDescription: "two active", versions: [Self.version(pem: pem), Self.version("k2", pem: pem)],
                says: "two versions are active"),
            Claim(
                testDescription: "one id twice",
                versions: [Self.version(pem: pem), Self.version(pem: pem, state: .passive)],
                says: "two versions share the id k1"),
            Claim(
                testDescription: "another algorithm of the same version",
                versions: [Self.version("k1", "RS512", pem: pem)],
                says: "was for RS256 and is for RS512 now"),
            Claim(
                testDescription: "an algorithm the app does not take",
                versions: [Self.version("k2", "RS512", pem: pem)],
                says: "for RS512, and an app that uses it takes RS256"),
            Claim(
                testDescription: "an unknown algorithm", versions: [Self.version("k2", "none", pem: pem)],
                says: "an algorithm this worker does not know"),
            Claim(
                testDescription: "a shared secret in place of a key pair",
                versions: [Self.version("k2", "HS256", pem: nil)],
                says: "for HS256, and an app that uses it takes RS256"),
            Claim(
                testDescription: "a public key as a secret", versions: [Self.version("k2", "HS256", pem: pem)],
                says: "is a shared secret and comes with a public key"),
            Claim(
                testDescription: "no public key", versions: [Self.version("k2", pem: nil)],
                says: "without its public key"),
            Claim(testDescription: "no PEM", versions: [Self.version("k2", pem: "x")], says: "not a public key in PEM"),
            Claim(
                testDescription: "a key of another kind", versions: [Self.version("k2", pem: ecPEM)],
                says: "the public key of the version k2"),
            Claim(testDescription: "no id", versions: [Self.version("", pem: pem)], says: "a version has no id"),
        ]
        let signer = ScriptedSigner { keys.honest($0) }
        try await signer.listening(bench.socket) {
            try await ClientBench.with(bench.socket, ["RS256": [.rs256]]) { client in
                for claim in claims {
                    signer.answer { keys.honest($0) }
                    try await eventually("the right key, before \(claim)") {
                        client.problem == nil && client.signer.activeKey(of: "RS256") != nil
                    }
                    signer.answer { frame in
                        guard case .keysRequest(let id) = frame else { return keys.honest(frame) }
                        let ring = claim.versions.map { PublishedRing(name: "RS256", versions: $0) }
                        return .frame(.keys(id: id, [ring].compactMap { $0 }))
                    }
                    try await eventually("no key: \(claim.testDescription)") {
                        client.signer.activeKey(of: "RS256") == nil
                    }
                    try await eventually("\(claim.testDescription): \(claim.says)") {
                        client.problem?.contains(claim.says) == true
                    }
                }
                // A problem is shown before it is logged.
                try await eventually("a line for each") { client.errors.count >= claims.count }
                #expect(client.errors.count == claims.count, "each is logged once")
            }
        }
    }
}
