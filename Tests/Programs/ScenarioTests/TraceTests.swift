import AdapterKit
import AsyncTestSupport
import BrazeAdapter
import Foundation
import Kafka
import ProgramTestSupport
import StubServer
import Testing

extension Scenarios {
    /// The trace of an event, as a collector sees it that decodes by OpenTelemetry's own messages.
    @Suite(.timeLimit(.minutes(5))) struct TraceTests {
        private static let key = "a-rest-key-that-nobody-may-see"
        private static let authorization = "Bearer a-collectors-token-that-nobody-may-see"
        /// The traces of the rounds: see `follow`.
        private static let traces = (1...8).map { "4bf92f3577b34da6a3ce929d0e0e473\($0)" }
        private static let parent = "00f067aa0ba902b7"
        private static let unseen = "0af7651916cd43dd8448eb211c80319c"

        /// Lets the worker ask `vendor` about the users of `braze-ios`, and export it to `collector`.
        private func configure(
            _ shop: borrowing Shop, _ vendor: StubServer, _ collector: TraceCollector
        ) throws {
            for (file, secret) in [("braze.key", Self.key), ("authorization", Self.authorization)] {
                try #require(
                    FileManager.default.createFile(
                        atPath: shop.folder.appending(path: file).path, contents: Data(secret.utf8),
                        attributes: [.posixPermissions: 0o600]))
            }
            try shop.configure(
                "    key: braze-ios\n",
                "    key: braze-ios\n    lookup: { mode: verify, endpoint: \"\(vendor.url)\", key_file: braze.key, patience: 10s }\n"
            )
            try configure(
                shop,
                "otlp: { endpoint: \"\(collector.endpoint)\", headers: { authorization_file: authorization } }"
            )
        }

        /// Adds these lines as the section `telemetry`.
        private func configure(_ shop: borrowing Shop, _ lines: String...) throws {
            let file = URL(filePath: shop.configuration)
            let text = try String(contentsOf: file, encoding: .utf8)
            let section = (["telemetry:"] + lines.map { "  \($0)" }).joined(separator: "\n")
            try Data("\(text)\n\(section)\n".utf8).write(to: file)
        }

        private func report(_ app: String, _ json: String, traceparent: String?) -> ProducerRecord {
            let record = rawReport(app, json)
            guard let traceparent else { return record }
            let context = [RecordHeader("traceparent", traceparent), RecordHeader("tracestate", "shop=1")]
            return ProducerRecord(
                topic: record.topic, key: nil, value: Array(json.utf8), headers: record.headers + context)
        }

        @Test(.enabled(if: TraceCollector.python != nil, TraceCollector.isMissing))
        func `an event that waited for its vendor and for a retry is one trace, up to its token`() async throws {
            let shop = try await Shop.open()
            let stub = try #require(
                try BrazeAdapter(settings: .init()).stub(StubSetting(authorization: "Bearer \(Self.key)")))
            let vendor = try await StubServer.start(
                stub, now: { UnixTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) })
            let collector = try await TraceCollector.start(authorization: Self.authorization)
            try configure(shop, vendor, collector)
            let worker = try await shop.startWorker()
            try await shop.produce([
                report(
                    "infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"user-unseen"}"#,
                    traceparent: "00-\(Self.unseen)-\(Self.parent)-00"),
                report(
                    "infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"user-rootless"}"#,
                    traceparent: nil),
            ])
            _ = try await shop.consumeOutputs { $0.count == 2 }
            let (trace, records) = try await follow(shop, vendor, collector)
            worker.terminate()
            await worker.waitForEnd()
            #expect(worker.status == 0, "\(worker.errorText)")
            await collector.stop()

            let all = try collector.spans
            let spans = all.filter { $0.trace == trace }
            #expect(!collector.program.errorText.contains("broken"), "\(collector.program.errorText)")
            #expect(
                spans.map(\.name).sorted() == [
                    "look-up", "look-up", "process remint.invalidations", "process remint.retries.1s",
                    "publish remint.retries.1s", "publish remint.tokens", "retry remint.retries.1s", "sign",
                ])
            let tokens = try records.map { record in (record, try #require(record.member("app"))) }
            let token = try #require(tokens.first { $0.0.header("traceparent")?.contains(trace) == true }?.0)
            #expect(try #require(token.member("app")) == "braze-ios")
            let publish = try #require(spans.first { $0.name == "publish remint.tokens" })
            #expect(token.header("traceparent") == "00-\(trace)-\(publish.span)-01")
            #expect(token.header("tracestate") == "shop=1")

            let lookups = spans.filter { $0.name == "look-up" }.sorted { $0.start < $1.start }
            #expect(lookups.map(\.isFailed) == [true, false])
            #expect(lookups.map { $0.attributes["remint.lookup.answer"] } == ["unavailable", "exists"])

            // Whoever is not to be followed is not, and has the context it came with.
            #expect(!collector.program.errorText.contains(Self.unseen))
            let others = tokens.filter { $0.1 == "infobip-mobile" }.map { $0.0.header("traceparent") }
            #expect(Set(others) == [nil, "00-\(Self.unseen)-\(Self.parent)-00"])
            #expect(all.allSatisfy { ["batch", "sign", "commit"].contains($0.name) || Self.traces.contains($0.trace) })

            for secret in [Self.key, Self.authorization] { #expect(!worker.errorText.contains(secret)) }
            for secret in ["user-", Self.key, "eyJ"] { #expect(!collector.program.errorText.contains(secret)) }
            await vendor.stop()
            await shop.close()
        }

        /// Follows one event through a vendor that does not answer and a retry.
        ///
        /// A transaction may be aborted on a machine that is busy. Its events are taken again, and the spans of both attempts are in the
        /// trace. Then another event is followed, up to eight in all.
        ///
        /// - Returns: the trace of the event none of whose transactions was aborted, and the outputs up to its own.
        private func follow(
            _ shop: borrowing Shop, _ vendor: StubServer, _ collector: TraceCollector
        ) async throws -> (trace: String, records: [ConsumedRecord]) {
            for (round, trace) in Self.traces.enumerated() {
                // As often as the worker asks before it lets an event try again later.
                vendor.misbehave(.status(503), for: 4)
                // By itself, for an event that another one stands behind waits for no vendor.
                try await shop.produce([
                    report(
                        "braze-ios", #"{"errorCode":22,"userId":"user-followed-\#(round)"}"#,
                        traceparent: "00-\(trace)-\(Self.parent)-01")
                ])
                let records = try await shop.consumeOutputs { $0.count == 3 + round }
                // The last span of the event, whether it waited for a retry or was answered in a second attempt.
                try await collector.wait(for: "publish remint.tokens", in: trace)
                try await waitForEnd(of: trace, collector)
                let isAborted = try collector.spans.contains { span in
                    span.name == "commit" && span.isFailed && span.links.contains { $0.hasPrefix("\(trace) ") }
                }
                if !isAborted { return (trace, records) }
            }
            throw EveryRoundAborted()
        }

        /// Waits for the span whose part the token's publication is: it comes right behind it.
        private func waitForEnd(of trace: String, _ collector: TraceCollector) async throws {
            try await eventually("the span of the publication's event") {
                let spans = try collector.spans.filter { $0.trace == trace }
                let end = spans.first { $0.name == "publish remint.tokens" }?.parent
                return spans.contains { $0.span == end }
            }
        }

        private struct EveryRoundAborted: Error {}
    }
}
