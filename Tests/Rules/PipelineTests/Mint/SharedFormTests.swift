import AdapterKit
import Pipeline
import Testing

/// Tests that the common part of tokens is kept from one to the next, and that no different part is.
@Suite("The shared form of an app's tokens")
struct SharedFormTests {
    private struct Token {
        let keyID: String?
        let expiresAt: Int64?

        init(_ settlement: Settlement) throws {
            let token = try CompactJWS(parsing: try #require(settlement.output).token)
            let claims = try token.claims()
            keyID = token.header["kid"]?.string
            expiresAt = claims["exp"]?.integer
        }
    }

    @Test func `tokens of one second have the same times, and of another second others`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        var tokens: [Token] = []
        for (offset, seconds) in [Int64(0), 0, 1, 1, 86_000, -5].enumerated() {
            bench.clock.now = TestBench.now.advanced(bySeconds: seconds)
            let record = InputRecord.raw(SampleReport.bloomreach(), app: "web", offset: Int64(offset))
            tokens += try await processor.process([record], batch: offset).map(Token.init)
        }
        #expect(tokens.map(\.expiresAt) == [0, 0, 1, 1, 86_000, -5].map { 1_763_640_900 + $0 })
    }

    @Test func `a token of another key has that key's id and end`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        let other = try SigningKey.generate(.hs512, keyID: "stream-2")
        let retiresSoon = TestBench.now.advanced(bySeconds: 300)
        var tokens: [Token] = []
        for round in 0..<4 {
            switch round {
            case 1: bench.signing.activate(other, in: "shop-data", version: "data-2")
            case 2: bench.signing.activate(other, in: "shop-data", version: "data-2", retireAfter: retiresSoon)
            case 3: bench.signing.activate(bench.dataKey, in: "shop-data", version: "data-1")
            default: break
            }
            let record = InputRecord.raw(SampleReport.bloomreach(), app: "web", offset: Int64(round))
            tokens += try await processor.process([record], batch: round).map(Token.init)
        }
        #expect(tokens.map(\.keyID) == ["stream-1", "stream-2", "stream-2", "stream-1"])
        #expect(tokens.map(\.expiresAt) == [900, 900, 300, 900].map { 1_763_640_000 + $0 })
    }

    @Test func `each app's tokens have that app's key id and lifetime`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        let records: [InputRecord] = [
            .raw(SampleReport.braze(), app: "shop-ios", offset: 0),
            .raw(SampleReport.bloomreach(), app: "web", offset: 1),
            .raw(SampleReport.braze(user: "b"), app: "shop-ios", offset: 2),
        ]
        let tokens = try await processor.process(records).map(Token.init)
        #expect(tokens.map(\.keyID) == [nil, "stream-1", nil])
        #expect(tokens.map(\.expiresAt) == [43_200, 900, 43_200].map { 1_763_640_000 + $0 })
    }
}
