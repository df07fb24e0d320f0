import AdapterKit
import BrazeAdapter
import Pipeline
import Testing

@Suite("Replacement tokens")
struct ReplacementTokenTests {
    private func minted(_ record: InputRecord, _ bench: TestBench) async throws -> OutputRecord {
        let settlement = try await bench.settle(record)
        #expect(settlement.outcome == .minted)
        #expect(settlement.detail == nil)
        return try #require(settlement.output)
    }

    @Test func `the value is the design's, member by member`() async throws {
        let bench = try TestBench()
        let output = try await minted(
            .sample(#"{"app":"shop-ios","id":"e-1","device":"d-1","report":\#(SampleReport.braze())}"#), bench)
        let token = try #require(try output.json["token"]?.string)
        let expected =
            #"{"app":"shop-ios","vendor":"braze","subject":{"user":"user-42"},"token":"\#(token)","algorithm":"RS256","#
            + #""key_id":"2026-11","issued_at":1763640000,"expires_at":1763683200,"version":1763640000123456,"#
            + #""event_id":"e-1","device":"d-1"}"#
        #expect(String(decoding: try #require(output.value), as: UTF8.self) == expected)
        #expect(output.key == Array("shop-ios/user-42".utf8))
        #expect(output.destination == .tokens)
    }

    @Test func `device and challenge are in a token's record only when given`() async throws {
        let bench = try TestBench()
        let plain = try await minted(.raw(SampleReport.braze(), app: "shop-ios"), bench).json
        #expect(
            plain.members.map(\.name) == [
                "app", "vendor", "subject", "token", "algorithm", "key_id", "issued_at", "expires_at", "version",
                "event_id",
            ])
        let challenge = try await minted(.raw(SampleReport.challenge(nonce: "n/1"), app: "push"), bench)
        #expect(try challenge.json.members.last?.name == "challenge")
        #expect(try challenge.json["challenge"]?.string == "n/1")
        #expect(try challenge.json["device"] == nil)
        #expect(challenge.key == Array("push/user-42/n%2F1".utf8))
        let both = try await minted(
            .raw(SampleReport.challenge(), app: "push", [RecordHeader("remint-device", "d")]), bench)
        #expect(try both.json.members.suffix(2).map(\.name) == ["device", "challenge"])
    }

    @Test func `named ids are sorted in key and value`() async throws {
        let report = #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"ann@example.com","crm":"7"}}"#
        let output = try await minted(.raw(report, app: "web"), try TestBench())
        #expect(output.key == Array("web/crm=7/registered=ann%40example.com".utf8))
        #expect(try output.json["subject"]?.json == Array(#"{"crm":"7","registered":"ann@example.com"}"#.utf8))
        #expect(try output.json["key_id"]?.string == "data-1")
    }

    @Test func `the headers are the design's, and enough for the ledger`() async throws {
        let record = InputRecord.raw(
            SampleReport.braze(), app: "shop-ios",
            [
                RecordHeader("remint-id", "e-1"), RecordHeader("traceparent", "00-1-2-01"), RecordHeader("other", "x"),
                RecordHeader("tracestate", "t=1"),
            ])
        let output = try await minted(record, try TestBench())
        #expect(
            output.headers == [
                RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", "e-1"),
                RecordHeader("ce_source", "/remint/shop-ios"),
                RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("ce_subject", "shop-ios/user-42"),
                RecordHeader("ce_time", "2025-11-20T12:00:00Z"), RecordHeader("content-type", "application/json"),
                RecordHeader("remint-key-id", "2026-11"), RecordHeader("remint-key-ring", "shop-braze"),
                RecordHeader("remint-expires-at", "1763683200"),
                RecordHeader("remint-reported-at", "1763639999500"), RecordHeader("remint-version", "1763640000123456"),
                RecordHeader("traceparent", "00-1-2-01"), RecordHeader("tracestate", "t=1"),
            ])
    }

    @Test func `the vendor accepts the token, and no header contains any of it`() async throws {
        let bench = try TestBench()
        let records: [InputRecord] = [
            .raw(SampleReport.braze(), app: "shop-ios"), .raw(SampleReport.challenge(), app: "push"),
            .raw(SampleReport.bloomreach(), app: "web"),
        ]
        let keys = [bench.brazeKey, bench.pushKey, bench.dataKey].map(\.verificationKey.self)
        let subjects = [
            Subject(user: "user-42"), Subject(user: "user-42", challenge: "nonce-1"),
            Subject(identifiers: [.init(name: "registered", value: "ann@example.com")]),
        ]
        for (index, record) in records.enumerated() {
            let output = try await minted(record, bench)
            let token = try output.token
            let adapter = bench.apps[index].adapter
            #expect(
                adapter.verify(token, against: [keys[index]], expecting: subjects[index], at: bench.clock.now)
                    == .accepted)
            let parts = String(decoding: token, as: UTF8.self).split(separator: ".")
            for header in output.headers {
                for part in parts.dropFirst() { #expect(header.text?.contains(part) == false, "\(header.name)") }
            }
        }
    }

    @Test func `nothing of a report's secrets shows in a settlement`() async throws {
        let settlement = try await TestBench().settle(.raw(SampleReport.braze(), app: "shop-ios"))
        let output = try #require(settlement.output)
        for secret in [SampleReport.signature, "c2VjcmV0LW9mLWEtcmVwb3J0"] {
            #expect(!String(describing: settlement).contains(secret))
            #expect(!String(decoding: try #require(output.value), as: UTF8.self).contains(secret))
            #expect(!output.headers.contains { $0.text?.contains(secret) == true })
        }
    }

    @Test func `texts from outside are escaped`() async throws {
        let record = InputRecord.sample(
            #"{"app":"shop-ios","id":"a\"b\\\u0001\n","device":"é\u0000","report":\#(SampleReport.braze(user: #"u\"\\é"#))}"#
        )
        let output = try await minted(record, try TestBench())
        #expect(try output.json["event_id"]?.string == "a\"b\\\u{1}\n")
        #expect(try output.json["device"]?.string == "é\u{0}")
        #expect(try output.json["subject"]?["user"]?.string == "u\"\\é")
        #expect(output.key == Array("shop-ios/u%22%5C%C3%A9".utf8))
    }
}
