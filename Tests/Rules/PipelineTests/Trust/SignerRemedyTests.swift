import AdapterKit
import Pipeline
import Testing

@Suite("The signer of the token that failed")
struct SignerRemedyTests {
    private func settle(_ code: Int, _ token: String?, app: String = "braze") async throws -> Settlement {
        let bench = try TrustBench()
        var processor = bench.processor()
        let signature = token.map { #","signature":"\#($0)""# } ?? ""
        let record = EventShape.raw.record(app, #"{"errorCode":\#(code),"userId":"me"\#(signature)}"#)
        return try #require(await processor.process([record]).first)
    }

    /// Braze's codes for a key without a match, with their names.
    private static let unmatched = [20: "DECODING_ERROR", 27: "NO_MATCHING_PUBLIC_KEYS"]

    @Test(arguments: [20, 27], ["passive", "prepared", "retired"])
    func `codes 20 and 27 with a token of an older version are fixed by the active one`(
        _ code: Int, _ state: String
    ) async throws {
        let settlement = try await settle(code, TrustBench().token(of: "me", signedBy: state))
        #expect(settlement.outcome == .minted)
        #expect(settlement.signer == TokenSigner(rawValue: state))
        #expect(settlement.reason == Self.unmatched[code])
    }

    @Test(arguments: [20, 27])
    func `codes 20 and 27 with a token of the active version are not fixable by a token`(_ code: Int) async throws {
        let settlement = try await settle(code, TrustBench().token(of: "me", signedBy: "active"))
        #expect(settlement.outcome == .deadLettered(.notFixableByToken))
        #expect(settlement.signer == .active)
        #expect(settlement.detail?.contains("upload") == true)
    }

    /// Codes that blame the key and that no token repairs, whose signature the token has, and the version that the letter names.
    private static let blames: [(code: Int, signer: String?, version: String?)] = [
        (20, "active", "active"), (27, "active", "active"), (25, "active", "active"), (25, "passive", "passive"),
        (25, "retired", "retired"),
        (25, "other", nil), (25, nil, nil),
    ]

    @Test(arguments: blames)
    func `a letter whose code blames the key names the refused token, and its version where the token shows it`(
        _ code: Int, _ signer: String?, _ version: String?
    ) async throws {
        let token = try signer.map { try TrustBench().token(of: "me", signedBy: $0) }
        let settlement = try await settle(code, token)
        #expect(settlement.outcome == .deadLettered(.notFixableByToken))
        let letter = try #require(settlement.output)
        #expect(letter.values("remint-refused-key-id") == (version.map { [$0] } ?? []))
        #expect(letter.values("remint-refused-key-ring") == ["braze"])
        #expect(letter.values("remint-refused-subject") == ["braze/me"])
    }

    @Test(arguments: [28, 99]) func `a letter whose code does not blame the key names no refused token`(_ code: Int)
        async throws
    {
        let settlement = try await settle(code, TrustBench().token(of: "me", signedBy: "active"))
        #expect(settlement.outcome == .deadLettered(.notFixableByToken))
        #expect(settlement.output?.values("remint-refused-key-ring") == [])
        #expect(settlement.output?.values("remint-refused-subject") == [])
    }

    @Test(arguments: [20, 27]) func `codes 20 and 27 without a token are minted for once`(_ code: Int) async throws {
        let settlement = try await settle(code, nil)
        #expect(settlement.outcome == .minted)
        #expect(settlement.signer == TokenSigner.none)
    }

    @Test(arguments: [("other", "me"), ("revoked", "me"), ("active", "victim")])
    func `another key's, a revoked version's and another user's token count as foreign`(
        _ state: String, _ user: String
    ) async throws {
        #expect(try await settle(22, TrustBench().token(of: user, signedBy: state)).signer == .foreign)
    }

    @Test func `an event that waited is counted once`() async throws {
        let bench = try TrustBench()
        var processor = bench.processor()
        processor.hold(Suspension(app: "braze", cause: .paused, since: TrustBench.now), of: "braze")
        let record = EventShape.raw.record("braze", #"{"errorCode":22,"userId":"me"}"#)
        let first = try #require(await processor.process([record], batch: 1).first)
        #expect(first.signer == TokenSigner.none)
        processor.hold(nil, of: "braze")
        let again = try #require(first.output).fromTier(at: TrustBench.now)
        let second = try #require(await processor.process([again], batch: 2).first)
        #expect(second.outcome == .minted && second.signer == nil)
    }

    @Test func `claims that the edge grants go into the token`() async throws {
        let bench = try TrustBench()
        var processor = bench.processor()
        let granted = #"{"user":"me","subscriptions":[{"type":"Email","token":"me@example.com"}]}"#
        let settlement = try #require(
            await processor.process([
                EventShape.envelope.record("onesignal", #"{"externalId":"me"}"#, vouched: granted)
            ]).first)
        let token = try #require(settlement.output).token
        let claims = String(decoding: try CompactJWS(parsing: token).payload, as: UTF8.self)
        #expect(claims.hasSuffix(#""subscriptions":[{"type":"Email","token":"me@example.com"}]}"#))
    }
}
