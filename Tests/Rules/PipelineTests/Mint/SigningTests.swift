import AdapterKit
import Pipeline
import Testing

@Suite("Signing")
struct SigningTests {
    @Test func `a batch asks for its signatures together`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        _ = await processor.process([
            .raw(SampleReport.braze(user: "a"), app: "shop-ios"), .raw("{", app: "shop-ios"),
            .raw(SampleReport.challenge(user: "b"), app: "push"),
            .raw(#"{"errorCode":22,"userId":null}"#, app: "shop-ios"),
            .raw(SampleReport.bloomreach(), app: "web"),
        ])
        #expect(bench.signing.calls == [3])
    }

    @Test func `a signature that fails makes its own event wait and no other`() async throws {
        let bench = try TestBench()
        let signing = ScriptedSigning { requests in
            requests.indices.map {
                $0 == 1 ? .failure(Rejection(.mintFailed, "the HSM refused")) : .success([1, 2, 3])
            }
        }
        var processor = bench.processor(signing)
        let settlements = await processor.process(
            (0..<3).map { .raw(SampleReport.braze(user: "u\($0)"), app: "shop-ios", offset: $0) })
        #expect(settlements.map(\.outcome) == [.minted, .deferred(tier: 0, .failed(.mintFailed)), .minted])
        #expect(settlements[1].detail == "the HSM refused")
        #expect(settlements[1].output?.destination == .retries(tier: 0))
        #expect(settlements[1].output?.values("remint-history") == ["2025-11-20T12:00:00.123456Z mint mint_failed"])
        #expect(settlements[1].output?.value == Array(SampleReport.braze(user: "u1").utf8))
        #expect(try settlements[2].output?.json["subject"]?["user"]?.string == "u2")
    }

    @Test func `a failing signer's own code is kept`() async throws {
        let signing = ScriptedSigning { $0.map { _ in .failure(Rejection(.keyUnavailable, "revoked a moment ago")) } }
        let settlement = try await TestBench().settle(.raw(SampleReport.braze(), app: "shop-ios"), signing)
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.keyUnavailable)))
    }

    @Test(arguments: [0, 1, 2, 3, 4])
    func `a signer that answers short or long loses nobody`(_ answers: Int) async throws {
        let bench = try TestBench()
        let signing = ScriptedSigning { _ in (0..<answers).map { _ in .success([9]) } }
        var processor = bench.processor(signing)
        let records: [InputRecord] = [
            .raw(SampleReport.braze(user: "a"), app: "shop-ios", offset: 0),
            .raw("nonsense", app: "shop-ios", offset: 1),
            .raw(SampleReport.braze(user: "b"), app: "shop-ios", offset: 2),
            .raw(SampleReport.braze(user: "c"), app: "shop-ios", offset: 3),
        ]
        let settlements = await processor.process(records)
        #expect(settlements.map(\.origin) == records.map(\.origin))
        let drafts = [settlements[0], settlements[2], settlements[3]]
        for (index, settlement) in drafts.enumerated() {
            #expect(settlement.outcome == (index < answers ? .minted : .deferred(tier: 0, .failed(.mintFailed))))
        }
        #expect(settlements[1].outcome == .deadLettered(.malformedEvent))
    }

    @Test func `each signature goes to its own token`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        let settlements = await processor.process(
            (0..<20).map { .raw(SampleReport.braze(user: "u\($0)"), app: "shop-ios", offset: $0) })
        for (index, settlement) in settlements.enumerated() {
            let token = try CompactJWS(parsing: #require(settlement.output).token)
            #expect(throws: Never.self) { try token.verify(with: bench.brazeKey.verificationKey) }
            #expect(try token.claims()["sub"]?.string == "u\(index)")
        }
    }

    @Test func `a new active key signs and names itself from the next batch on`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        func header() async throws -> (JSONValue, OutputRecord) {
            let settlements = await processor.process([.raw(SampleReport.bloomreach(), app: "web")])
            let output = try #require(settlements.first?.output)
            return (try CompactJWS(parsing: output.token).header, output)
        }
        for (keyID, version) in [("k1", "v1"), ("k2", "v2"), ("k1", "v1"), ("k1", "v3")] {
            let key = try SigningKey(secret: SecretBytes(copying: keyID.utf8), algorithm: .hs512, keyID: keyID)
            bench.signing.activate(key, in: "shop-data", version: version)
            for _ in 0..<2 {
                let (header, output) = try await header()
                #expect(header["kid"]?.string == keyID)
                #expect(output.values("remint-key-id") == [version])
                let token = try CompactJWS(parsing: output.token)
                #expect(throws: Never.self) { try token.verify(with: key.verificationKey) }
            }
        }
    }

    @Test func `a vendor whose header names the key needs a key with an id`() async throws {
        let bench = try TestBench()
        struct Nameless: SigningPort {
            func activeKey(of ring: String) -> SigningKeyReference? {
                SigningKeyReference(ring: ring, version: "v", keyID: nil, algorithm: .hs512, retireAfter: nil)
            }
            func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
                requests.map { _ in .success([1]) }
            }
        }
        let settlement = try await bench.settle(.raw(SampleReport.bloomreach(), app: "web"), Nameless())
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.keyUnavailable)))
    }

    @Test func `apps that share a ring have a header each`() async throws {
        let bench = try TestBench()
        var processor = bench.processor()
        let settlements = await processor.process([
            .raw(SampleReport.braze(), app: "shop-ios"), .raw(SampleReport.bloomreach(), app: "web"),
            .raw(SampleReport.challenge(), app: "push"),
        ])
        let headers = try settlements.map {
            String(decoding: try CompactJWS(parsing: #require($0.output).token).header.json, as: UTF8.self)
        }
        #expect(
            headers == [
                #"{"alg":"RS256","typ":"JWT"}"#, #"{"alg":"HS512","typ":"JWT","kid":"stream-1"}"#,
                #"{"alg":"HS256","typ":"JWT"}"#,
            ])
    }
}
