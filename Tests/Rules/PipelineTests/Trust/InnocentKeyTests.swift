import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import InfobipAdapter
import Pipeline
import Testing

/// Devices and vendors that refuse good tokens although the key works.
@Suite("Refusals that are not the key's fault")
struct InnocentKeyTests {
    private static func iterable(
        _ reason: String, _ user: String, _ token: String? = nil
    ) -> String {
        let failed = token.map { #","failedAuthToken":"\#($0)""# } ?? ""
        return #"{"userKey":"\#(user)","failureReason":"\#(reason)"\#(failed)}"#
    }

    private func bench(_ rules: AdmissionRules = AdmissionRules(subjects: 1000, usersToSuspend: 3)) throws
        -> EvidenceBench
    {
        try EvidenceBench(
            EvidenceBench.declared("iterable", settings: #"{"identified_by":"user_id"}"#), rules)
    }

    @Test func `tokens that are revoked as soon as they are minted end at the user's limit`() async throws {
        var bench = try bench()
        for user in ["ann", "bob", "cid", "dan"] {
            try await bench.tell(Self.iterable("AUTH_TOKEN_MISSING", user), of: user)
            for _ in 0..<8 {
                let token = try #require(bench.held[user]).token
                bench.pass(3)
                try await bench.tell(Self.iterable("AUTH_TOKEN_INVALIDATED", user, token), of: user)
            }
        }
        #expect(bench.mints == 20)
        #expect(bench.deadLetters.count == 16 && bench.processor.suspensions.isEmpty)
        for end in bench.deadLetters {
            #expect(end.detail?.contains("the key is not the cause") == true)
            #expect(end.detail?.contains("shared secret") == false)
        }
    }

    @Test(arguments: [
        ("AUTH_TOKEN_SIGNATURE_INVALID", true), ("AUTH_TOKEN_GENERIC_ERROR", false), ("AUTH_TOKEN_EXPIRED", false),
        ("AUTH_TOKEN_INVALIDATED", false), ("AUTH_TOKEN_MISSING", false),
    ])
    func `only refusals that blame the key suspend an app`(_ reason: String, _ isKey: Bool) async throws {
        var bench = try bench(AdmissionRules(subjects: 1000))
        let users = (1...30).map { "u-\($0)" }
        for user in users { try await bench.tell(Self.iterable("AUTH_TOKEN_MISSING", user), of: user) }
        bench.pass(90)
        for _ in 0..<3 {
            for user in users {
                let token = try #require(bench.held[user]).token
                try await bench.tell(Self.iterable(reason, user, token), of: user)
            }
            bench.pass(7)
            bench.processor.checkSuspensions()
        }
        #expect(bench.processor.suspensions.isEmpty != isKey)
    }

    /// Braze's 20 and 27 about a token of the active key: no further token helps, and each report is a dead letter.
    @Test(arguments: [20, 27], [30, 10])
    func `a key that the vendor does not know suspends the app although no token is asked for`(
        _ code: Int, _ refusing: Int
    ) async throws {
        var bench = try EvidenceBench(
            BrazeAdapter(settings: .init()), AdmissionRules(subjects: 1000), provesTokens: true)
        let users = (1...30).map { "u-\($0)" }
        for user in users { try await bench.tell(#"{"errorCode":22,"userId":"\#(user)"}"#, of: user) }
        bench.pass(90)
        for user in users.prefix(refusing) {
            let token = try #require(bench.held[user]).token
            let end = try await bench.tell(
                #"{"errorCode":\#(code),"userId":"\#(user)","signature":"\#(token)"}"#, of: user)
            #expect(end.outcome == .deadLettered(.notFixableByToken))
        }
        for _ in 0..<3 {
            bench.pass(7)
            bench.processor.checkSuspensions()
        }
        #expect(bench.processor.suspensions.isEmpty == (refusing < 20))
    }

    @Test func `a dead letter blames the key only where the vendor does`() async throws {
        var bench = try bench()
        for (user, reason, isKey) in [
            ("ann", "AUTH_TOKEN_SIGNATURE_INVALID", true), ("bob", "AUTH_TOKEN_GENERIC_ERROR", false),
        ] {
            try await bench.tell(Self.iterable("AUTH_TOKEN_MISSING", user), of: user)
            bench.pass(10)
            let token = try #require(bench.held[user]).token
            let end = try await bench.tell(Self.iterable(reason, user, token), of: user)
            #expect(end.outcome == .deadLettered(.rejectedByVendor))
            #expect(end.detail?.contains("shared secret") == isKey, "\(end.detail ?? "")")
        }
    }

    /// Enforcement Optional: Braze refuses nothing, so an app with a key that Braze does not know stays active.
    @Test(arguments: [20, 23, 27])
    func `an app with optional enforcement is not suspended, although its SDK reports no flag`(_ code: Int)
        async throws
    {
        var bench = try EvidenceBench(
            BrazeAdapter(settings: .init(enforcement: .optional)), AdmissionRules(subjects: 1000), provesTokens: true)
        let users = (1...30).map { "u-\($0)" }
        for user in users { try await bench.tell(#"{"errorCode":22,"userId":"\#(user)"}"#, of: user) }
        bench.pass(90)
        for _ in 0..<3 {
            for user in users {
                let token = try #require(bench.held[user]).token
                try await bench.tell(
                    #"{"errorCode":\#(code),"userId":"\#(user)","signature":"\#(token)"}"#, of: user)
            }
            bench.pass(7)
            bench.processor.checkSuspensions()
        }
        #expect(bench.processor.suspensions.isEmpty)
        #expect(!bench.ends.contains { $0.outcome == .deadLettered(.rejectedByVendor) })
    }

    // MARK: Clocks

    /// An SDK that reports that a token expired.
    struct SDK: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let adapter: @Sendable () throws -> any Adapter
        let report: @Sendable (_ user: String, _ token: String) -> String
    }

    static let sdks = [
        SDK(
            testDescription: "Braze", adapter: { try BrazeAdapter(settings: .init()) },
            report: { #"{"errorCode":22,"userId":"\#($0)","signature":"\#($1)"}"# }),
        SDK(
            testDescription: "Bloomreach", adapter: { try BloomreachAdapter(settings: .init(mode: .stream)) },
            report: { user, _ in #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"\#(user)"}}"# }),
        SDK(
            testDescription: "Infobip", adapter: { try InfobipAdapter(settings: .init(applicationCode: "c")) },
            report: { user, _ in #"{"mm_code":"JWT_TOKEN_EXPIRED","externalUserId":"\#(user)"}"# }),
        SDK(
            testDescription: "Iterable",
            adapter: { try EvidenceBench.declared("iterable", settings: #"{"identified_by":"user_id"}"#) },
            report: { InnocentKeyTests.iterable("AUTH_TOKEN_EXPIRED", $0, $1) }),
    ]

    /// Two hours of devices that look at their token every twenty seconds and report it as soon as they or the vendor's server
    /// take it for expired.
    private func play(_ sdk: SDK, ahead: Int64) async throws -> EvidenceBench {
        var bench = try EvidenceBench(sdk.adapter())
        let users = ["ann", "bob", "cid", "dan"]
        for user in users { try await bench.tell(sdk.report(user, "none"), of: user, ahead: ahead) }
        for _ in 0..<360 {
            bench.pass(20)
            for user in users {
                let held = try #require(bench.held[user])
                guard held.expiresAt <= max(bench.clock.now.seconds, bench.clock.now.seconds + ahead) else { continue }
                try await bench.tell(sdk.report(user, held.token), of: user, ahead: ahead)
            }
        }
        #expect(bench.deadLetters.isEmpty && bench.processor.suspensions.isEmpty)
        #expect(Set(bench.held.keys) == Set(users))
        return bench
    }

    @Test(arguments: sdks)
    func `a device whose clock is two hours ahead gets a token a minute and blames no key`(_ sdk: SDK) async throws {
        let bench = try await play(sdk, ahead: 7200)
        #expect(bench.mints <= 4 * (1 + 7200 / 60))
        #expect(bench.mints >= 4 * 60)
        let skewed = bench.ends.filter(\.isClockSkew)
        #expect(skewed.count > 4 * 300)
    }

    @Test(arguments: sdks)
    func `a device whose clock is two hours behind gets a token when the last one expires`(_ sdk: SDK) async throws {
        let bench = try await play(sdk, ahead: -7200)
        #expect(bench.mints == bench.ends.count)
        #expect(bench.mints <= 4 * (1 + 7200 / 900))
        #expect(!bench.ends.contains { $0.isClockSkew })
    }
}
