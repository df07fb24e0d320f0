import AdapterKit
import Pipeline
import Testing

@Suite("Events with nothing to do")
struct SkipTests {
    static let anonymous: [(app: String, report: String)] = [
        ("shop-ios", #"{"errorCode":22,"userId":null}"#), ("shop-ios", #"{"errorCode":22,"userId":""}"#),
        ("push", #"{"nonce":"n","userId":null}"#), ("push", #"{"provider":"facebook","nonce":"n","userId":"u"}"#),
        ("web", #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"cookie":"c"}}"#),
    ]

    @Test(arguments: anonymous)
    func `an anonymous user is skipped`(_ app: String, _ report: String) async throws {
        let settlement = try await TestBench().settle(.raw(report, app: app))
        guard case .skipped(let why) = settlement.outcome else {
            Issue.record("\(settlement.outcome)")
            return
        }
        #expect(!why.isEmpty)
        #expect(settlement.outcome.name == "skipped")
        #expect(settlement.app == app)
        #expect(settlement.output == nil)
        #expect(settlement.detail == nil)
        #expect(settlement.eventID == "remint.invalidations/3/7")
    }

    @Test func `a missing user is skipped where the app is set so`() async throws {
        let bench = try TestBench(missingUser: .skip)
        let settlement = try await bench.settle(.raw(#"{"errorCode":22}"#, app: "shop-ios"))
        #expect(settlement.outcome == .skipped("the report names no user"))
        #expect(settlement.output == nil)
    }

    @Test func `a user that is no text is a mistake all the same`() async throws {
        let bench = try TestBench(missingUser: .skip)
        let settlement = try await bench.settle(.raw(#"{"errorCode":22,"userId":42}"#, app: "shop-ios"))
        #expect(settlement.outcome == .deadLettered(.malformedReport))
    }

    @Test func `a missing challenge is a mistake all the same`() async throws {
        let bench = try TestBench(missingUser: .skip)
        #expect(
            try await bench.settle(.raw(#"{"userId":"u"}"#, app: "push")).outcome == .deadLettered(.missingChallenge))
    }
}

@Suite("Reissue events of batch jobs")
struct ReissueTests {
    private static func event(_ reissue: String, app: String = "shop-ios") -> InputRecord {
        .sample(#"{"app":"\#(app)","reissue":\#(reissue)}"#)
    }

    @Test func `a reissue event mints for its user`() async throws {
        let settlement = try await TestBench().settle(Self.event(#"{"user":"user 7/ü"}"#))
        #expect(settlement.outcome == .minted)
        #expect(settlement.output?.key == Array("shop-ios/user%207%2F%C3%BC".utf8))
        #expect(try settlement.output?.json["subject"]?["user"]?.string == "user 7/ü")
    }

    @Test func `a reissue event mints for named ids`() async throws {
        let settlement = try await TestBench().settle(
            Self.event(#"{"ids":{"registered":"ann@example.com","crm":"7"}}"#, app: "web"))
        #expect(settlement.outcome == .minted)
        #expect(settlement.output?.key == Array("web/crm=7/registered=ann%40example.com".utf8))
    }

    static let refused: [(reissue: String, app: String, code: ErrorCode)] = [
        ("{}", "shop-ios", .missingUser), (#"{"user":null}"#, "shop-ios", .missingUser),
        (#"{"user":""}"#, "shop-ios", .missingUser), ("7", "shop-ios", .missingUser),
        (#"{"user":7}"#, "shop-ios", .malformedReport), (#"{"user":{}}"#, "shop-ios", .malformedReport),
        (#"{"user":"u"}"#, "web", .malformedReport), (#"{"ids":{"cookie":"c"}}"#, "web", .missingUser),
        (#"{"user":"u"}"#, "push", .missingChallenge),
    ]

    @Test(arguments: refused)
    func `a reissue event of a user its vendor cannot have is refused`(
        _ reissue: String, _ app: String, _ code: ErrorCode
    ) async throws {
        let settlement = try await TestBench().settle(Self.event(reissue, app: app))
        #expect(settlement.outcome == .deadLettered(code))
        #expect(settlement.output?.values("remint-error-stage") == ["decode"])
    }
}
