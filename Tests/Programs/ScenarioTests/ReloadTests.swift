import AdapterKit
import AsyncTestSupport
import BrazeAdapter
import Foundation
import Glibc
import JOSE
import Kafka
import ProgramTestSupport
import StubServer
import Testing

extension Scenarios {
    /// A worker whose configuration changes while it runs.
    @Suite(.timeLimit(.minutes(5))) struct ReloadTests {
        private static let key = "a-rest-key-that-nobody-may-see"

        @Test func `a signal and a changed file are enough, and a broken file changes nothing`() async throws {
            let shop = try await Shop.open()
            let file = shop.folder.appending(path: "own.yaml")
            let vendor = Repository.root.appending(path: "adapters/declared/centrifugo.yaml")
            try FileManager.default.copyItem(at: vendor, to: file)
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            #expect(try await admin.total("remint_configuration_last_reload_successful") == 1)
            let started = try await admin.total("remint_configuration_last_reload_success_timestamp_seconds")
            #expect(abs(started - Date.now.timeIntervalSince1970) < 600)

            // A new app, and a ring that was not there: by SIGHUP.
            let app = "  late: { adapter: ./own.yaml, key: late }\n"
            try FileManager.default.copyItem(
                at: shop.folder.appending(path: "keys/centrifugo-shop"), to: shop.folder.appending(path: "keys/late"))
            try shop.configure("\nkeys:\n", "\nkeys:\n  late: { path: keys/late }\n")
            try shop.configure("\napps:\n", "\napps:\n\(app)")
            worker.send(SIGHUP)
            try await admin.wait("remint_configuration_reloads_total", [#"result="applied""#], atLeast: 1)
            #expect(await worker.logged("reload.applied"))
            try await shop.produce([rawReport("late", #"{"code":109,"user":"ann"}"#)])
            try await admin.wait("remint_minted_total", [#"app="late""#], atLeast: 1)
            #expect(try await admin.get("/keys/late/jwks.json").status == 200)
            #expect(try await admin.total("remint_configuration_reloads_total", [#"result="refused""#]) == 0)

            // The vendor's file, without a signal.
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.replacing("standard: 10m", with: "standard: 20m").utf8).write(to: file)
            try await admin.wait("remint_configuration_reloads_total", [#"result="applied""#], atLeast: 2)
            try await shop.produce([rawReport("late", #"{"code":109,"user":"bob"}"#)])
            let tokens = try await shop.consumeOutputs(of: ["remint.tokens"]) { $0.count == 2 }
            let lives = Set(tokens.compactMap { life($0) })
            #expect(lives == [600, 1200])

            // A broken file, which names its place; the apps go on.
            try shop.configure(app, app + "  broken: { adapter: nobody }\n")
            try await admin.wait("remint_configuration_reloads_total", [#"result="refused""#], atLeast: 1)
            #expect(try await admin.total("remint_configuration_last_reload_successful") == 0)
            #expect(await worker.logged("reload.refused"))
            #expect(worker.errorText.contains(#/remint\.yaml:\d+:\d+: error: /#))
            try await shop.produce([rawReport("late", #"{"code":109,"user":"cid"}"#)])
            try await admin.wait("remint_minted_total", [#"app="late""#], atLeast: 3)

            // Mended, with what is taken over and what needs a restart.
            try shop.configure("  broken: { adapter: nobody }\n", "")
            try shop.configure("tiers: [1s, 2s], max_attempts: 100", "tiers: [1s, 3s], max_attempts: 3")
            try shop.configure("level: info", "level: debug")
            try await admin.wait("remint_configuration_reloads_total", [#"result="applied""#], atLeast: 3)
            #expect(try await admin.total("remint_configuration_last_reload_successful") == 1)
            #expect(await worker.logged("reload.needs-restart"))
            #expect(worker.errorText.contains("remint.configuration.keys=worker.retries.tiers"))
            #expect(await worker.wrote("worker.retries.max_attempts, log.level"))

            // Taken out again: its events end as those of an app that never was, and its series go.
            try shop.configure(app, "")
            worker.send(SIGHUP)
            try await admin.wait("remint_configuration_reloads_total", [#"result="applied""#], atLeast: 4)
            try await shop.produce([rawReport("late", #"{"code":109,"user":"dan"}"#)])
            try await admin.wait("remint_outcomes_total", [#"code="unknown_app""#], atLeast: 1)
            #expect(try await admin.get("/metrics").text.contains(#"app="late""#) == false)

            await shop.close(expecting: 0)
        }

        /// Returns the number of completed events on the status page.
        private func ended(_ admin: AdminAPI) async throws -> Int {
            let status = Data(try await admin.get("/status").text.utf8)
            let object = try JSONSerialization.jsonObject(with: status) as? [String: Any]
            let totals = object?["outcomes"] as? [String: Int] ?? [:]
            return (totals["minted"] ?? 0) + (totals["dead_lettered"] ?? 0)
        }

        private func life(_ token: ConsumedRecord) -> Int? {
            let object = token.value.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) } as? [String: Any]
            guard let start = object?["issued_at"] as? Int, let end = object?["expires_at"] as? Int else { return nil }
            return end - start
        }

        /// Apps come and go, rates and key rings change, files are broken now and then, and all the while events come.
        @Test func `hundreds of reloads lose and double no event, and leave nothing behind`() async throws {
            let shop = try await Shop.open(partitions: 4)
            let stub = try #require(
                try BrazeAdapter(settings: .init()).stub(StubSetting(authorization: "Bearer \(Self.key)")))
            let server = try await StubServer.start(
                stub, now: { UnixTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) })
            let secret = shop.folder.appending(path: "braze.key")
            try #require(
                FileManager.default.createFile(
                    atPath: secret.path, contents: Data(Self.key.utf8), attributes: [.posixPermissions: 0o600]))
            let story = ReloadStory(broker: shop.broker.bootstrapServers, vendor: server.url)
            try story.write(0, to: shop.configuration)
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            let producer = try KafkaProducer(["bootstrap.servers": shop.broker.bootstrapServers], logger: quiet)

            var events: [String] = []
            var warm: ProcessFigures?
            for round in 1...ReloadStory.rounds {
                try story.write(round, to: shop.configuration)
                let records = ReloadStory.events(round)
                events += records.map(\.id)
                async let delivered = producer.deliver(records.map(\.record))
                worker.send(SIGHUP)
                #expect(await delivered.allSatisfy { $0 == nil })
                try await admin.wait("remint_configuration_reloads_total", atLeast: Double(round))
                let isRefused = ReloadStory.isBroken(round)
                #expect(try await admin.total("remint_configuration_last_reload_successful") == (isRefused ? 0 : 1))
                // Both are taken at the same place of the cycle.
                if round == ReloadStory.warmUp { warm = try ProcessFigures(of: worker.processID) }
            }
            let end = try ProcessFigures(of: worker.processID)
            await producer.close(within: .seconds(10))
            // The file is watched too: a change that waits for its signal for more than a second is read twice.
            #expect(try await admin.total("remint_configuration_reloads_total") >= Double(ReloadStory.rounds))
            let broken = (1...ReloadStory.rounds).count { ReloadStory.isBroken($0) }
            #expect(
                try await admin.total("remint_configuration_reloads_total", [#"result="refused""#]) >= Double(broken))
            #expect(try await admin.total("remint_sessions_total") == 1)

            _ = try await shop.consumeOutputs { records in
                Set(records.compactMap { $0.header("ce_id") ?? $0.header("remint-id") }).count >= events.count
            }
            // Also what apps answered that are no more.
            // What is visible is counted a moment later, and told for half a second.
            try await eventually("every end") { try await ended(admin) >= events.count }
            #expect(try await ended(admin) == events.count)
            worker.terminate()
            await worker.waitForEnd()
            #expect(worker.status == 0, "\(worker.errorText.suffix(2000))")
            let ends = Dictionary(grouping: try await shop.outputs()) {
                $0.header("ce_id") ?? $0.header("remint-id") ?? ""
            }
            #expect(Set(ends.keys) == Set(events))
            #expect(ends.values.allSatisfy { $0.count == 1 }, "\(ends.filter { $0.value.count > 1 }.keys.sorted())")
            for (id, records) in ends {
                let code = records.first?.header("remint-error-code")
                // Whoever is there all the time gets a token; who is not may have been away.
                #expect(code == nil || !id.hasPrefix("mobile") && code == "unknown_app", "\(id): \(code ?? "")")
            }
            let minted = ends.values.count { $0.first?.header("remint-error-code") == nil }
            print(
                "  reloads: \(minted) tokens of \(events.count) events; \(warm.map(String.init(describing:)) ?? "") → \(end)"
            )
            let before = try #require(warm)
            // Pools breathe; one of anything for each reload would be hundreds.
            #expect(end.descriptors <= before.descriptors + 16, "\(before) → \(end)")
            #expect(end.threads <= before.threads + 16, "\(before) → \(end)")
            #expect(end.memory <= before.memory + 32 * 1024, "\(before) → \(end)")
            await server.stop()
            await shop.close()
        }
    }
}

/// The configurations of a worker that reloads without a pause, and the events that come meanwhile.
struct ReloadStory {
    static let rounds = Scale.isLong ? 1000 : 200
    /// The number of rounds after which everything has been there once.
    static let warmUp = Scale.isLong ? 300 : 60

    let broker: String
    let vendor: String

    static func isBroken(_ round: Int) -> Bool { round % 50 == 49 }

    /// Writes the configuration of `round` to `path`: there at once or not at all.
    func write(_ round: Int, to path: String) throws {
        try Data(text(round).utf8).write(to: URL(filePath: path), options: .atomic)
    }

    /// The events that come while the worker goes from one configuration to the next.
    static func events(_ round: Int) -> [(id: String, record: ProducerRecord)] {
        func event(_ app: String, _ report: String, _ number: Int) -> (id: String, record: ProducerRecord) {
            let id = "\(app)-\(round)-\(number)"
            return (id, rawReport(app, report.replacing("USER", with: id), id: id))
        }
        let infobip = #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"USER"}"#
        return [
            event("mobile", infobip, 0), event("mobile", infobip, 1), event("extra-\(round % 5)", infobip, 2),
        ] + (round.isMultiple(of: 5) ? [event("ios", #"{"errorCode":22,"userId":"USER"}"#, 3)] : [])
    }

    private func text(_ round: Int) -> String {
        let settings = "settings: { application_code: app-code-A }"
        // What a ring is called stays; where it is, and whether it is there, does not.
        let ring = round / 7 % 2 == 0 ? "infobip-mobile" : "dotdigital-push"
        let spare = round.isMultiple(of: 2) ? "  spare: { path: keys/ably-shop }\n" : ""
        var apps = "  mobile: { adapter: infobip, key: mobile, lifetime: \(15 + round % 3)m, \(settings) }\n"
        let extra = round % 5
        apps += "  extra-\(extra): { adapter: infobip, key: \(spare.isEmpty ? "mobile" : "spare"), \(settings) }\n"
        if round % 20 < 17 {
            apps += """
                  ios:
                    adapter: braze
                    key: ios
                    lookup: { mode: verify, endpoint: "\(vendor)", key_file: braze.key, rate: \(20 + round / 10 % 3)/s }

                """
        }
        return """
            kafka:
              bootstrap_servers: \(broker)
              properties:
                { session.timeout.ms: 60000, transaction.timeout.ms: 30000, heartbeat.interval.ms: 500, fetch.wait.max.ms: 10 }
            delivery: exactly_once
            keys:
              mobile: { path: keys/\(ring) }
              ios: { path: keys/braze-ios }
            \(spare)apps:
            \(apps)\(Self.isBroken(round) ? "  broken: [\n" : "")
            worker:
              memory: \(32 + round % 4)MB
              retries: { tiers: [1s, 2s], max_attempts: \(5 + round % 2) }
              admission: { subjects: 0, coalesce: \(1 + round % 3)s }
            admin: { listen: 127.0.0.1:0 }
            log: { level: \(round.isMultiple(of: 2) ? "info" : "notice"), format: text }

            """
    }
}
