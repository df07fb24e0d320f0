import AdapterKit
import AdapterTestSupport
import OneSignalAdapter
import Testing

@Suite struct OneSignalReportTests {
    private static let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let adapter = Result { try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A"}"#) }

    private static let reports: [ReportSample] = [
        .init(#"{"externalId":"u-1001"}"#, "mint JWT_INVALIDATED app/u-1001"),
        .init(#"{"external_id":"u-1001"}"#, "mint JWT_INVALIDATED app/u-1001"),
        .init(#"{"externalId":"u-1","external_id":"u-1"}"#, "mint JWT_INVALIDATED app/u-1"),
        .init(#"{"externalId":"u-1","external_id":"u-2"}"#, "malformed_report"),
        .init(#"{"externalId":null,"external_id":"u-2"}"#, "malformed_report"),
        .init(#"{"externalId":"\#(String(repeating: "u", count: 1025))"}"#, "malformed_report"),
        .init(
            #"{"externalId":"u-1","appId":"A","device":"pixel","time":"2026-11-20T10:00:00Z"}"#,
            "mint JWT_INVALIDATED app/u-1"),
        .init(#"{"externalId":"u-1","anything":{"the":["app","adds"]}}"#, "mint JWT_INVALIDATED app/u-1"),
        .init(#"{"externalId":null}"#, "not_for_us JWT_INVALIDATED"),
        .init(#"{"externalId":""}"#, "not_for_us JWT_INVALIDATED"),
        .init(#"{}"#, "missing_user"),
        .init(#"{"externalId":1001}"#, "malformed_report"),
        .init(#"{"externalId":{"id":"u"}}"#, "malformed_report"),
        .init(#"{"externalId":"u-1","appId":"B"}"#, "malformed_report"),
        .init(#"{"externalId":"u-1","app_id":"a"}"#, "malformed_report"),
        .init(#"{"code":22,"userId":"u-1"}"#, "malformed_report"),
        .init(#"{"nonce":"n","userId":"u-1"}"#, "malformed_report"),
        .init(#"[]"#, "malformed_report"), .init(#""u-1001""#, "malformed_report"), .init(#"1"#, "malformed_report"),
        .init(#"null"#, "malformed_report"),
    ]

    @Test(arguments: reports) func `an event of OneSignal is read by its external id`(_ sample: ReportSample)
        throws
    {
        #expect(try Self.adapter.get().summary(of: sample.report) == sample.summary)
    }

    @Test func `the hash of the refused token counts where the app adds it`() throws {
        for name in ["rejectedTokenSha256", "rejected_token_sha256"] {
            let reading = try Self.adapter.get().reading(of: #"{"externalId":"u","\#(name)":"\#(Self.hash)"}"#)
            guard case .failure(let failure) = reading else {
                Issue.record("it was rejected")
                continue
            }
            #expect(failure.failedToken?.hash == TokenHash(of: "abc".utf8))
            #expect(failure.deadline == nil)
        }
        guard
            case .failure(let failure) = try Self.adapter.get().reading(
                of: #"{"externalId":"u","rejectedTokenSha256":"x"}"#)
        else {
            Issue.record("it was rejected")
            return
        }
        #expect(failure.failedToken == nil)
    }

    private static let large = LargeReport.all(naming: ["externalId", "appId", "rejectedTokenSha256"])

    @Test(.timeLimit(.minutes(5)), arguments: large) func `a large report to OneSignal's adapter is read at once`(
        _ report: LargeReport
    )
        throws
    {
        _ = try Self.adapter.get().summary(of: report.json)
    }
}
