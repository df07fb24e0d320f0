import AdapterKit
import AsyncTestSupport
import BrazeAdapter
import Foundation
import JOSE
import Kafka
import OneSignalAdapter
import ProgramTestSupport
import StubServer
import Testing

extension DeviceScenarios {
    /// Look-ups as a whole: the program, a broker, and vendors' servers that keep their limits.
    @Suite(.timeLimit(.minutes(5))) struct LookupTests {
        private static let key = "a-rest-key-that-nobody-may-see"

        /// A stub of Braze that knows everybody but those called `deleted-…`.
        private func braze(gone: Set<String> = []) async throws -> StubServer {
            let setting = StubSetting(authorization: "Bearer \(Self.key)", gone: gone)
            let stub = try #require(try BrazeAdapter(settings: .init()).stub(setting))
            return try await StubServer.start(stub, now: Self.now)
        }

        private static func now() -> UnixTime { UnixTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }

        /// Lets the worker ask Braze's server about the users of `braze-ios`.
        private func ask(_ server: StubServer, _ shop: borrowing Shop) throws {
            let secret = shop.folder.appending(path: "braze.key")
            try #require(
                FileManager.default.createFile(
                    atPath: secret.path, contents: Data(Self.key.utf8), attributes: [.posixPermissions: 0o600]))
            try shop.configure(
                "    key: braze-ios\n",
                "    key: braze-ios\n    lookup: { mode: verify, endpoint: \"\(server.url)\", key_file: braze.key }\n"
            )
        }

        /// The most arrivals in any time of that length, as the server saw them.
        private func most(_ arrivals: [Arrival], in seconds: Int) -> Int {
            var most = 0
            var start = 0
            for end in arrivals.indices {
                while arrivals[end].instant - arrivals[start].instant >= .seconds(seconds) { start += 1 }
                most = max(most, end - start + 1)
            }
            return most
        }

        @Test func `fifty users of thousands are one request, within the vendor's limits`() async throws {
            let shop = try await Shop.open(partitions: 8)
            let users = Scale.isLong ? 10_000 : 2500
            let server = try await braze(gone: ["user-7", "user-\(users - 1)"])
            try ask(server, shop)
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            try await shop.produce(
                (0..<users).map { rawReport("braze-ios", #"{"errorCode":22,"userId":"user-\#($0)"}"#) })
            try await admin.wait("remint_minted_total", atLeast: Double(users - 2))
            try await admin.wait("remint_outcomes_total", [#"code="user_gone""#], atLeast: 2)

            let arrivals = server.requests
            // Fifty users fit into one; a few go out with fewer, where a batch ended.
            #expect((users / 50...users / 50 + 10).contains(arrivals.count))
            // Braze answers an export with 201.
            #expect(arrivals.allSatisfy { $0.status == 201 })
            #expect(most(arrivals, in: 1) <= 40)
            #expect(most(arrivals, in: 60) <= 250)
            #expect(try await admin.total("remint_outcomes_total", [#"outcome="dead_lettered""#]) == 2)
            // What was asked is told once a second, and the last of it may be told after the last token.
            try await admin.wait("remint_lookup_verdicts_total", [#"verdict="exists""#], atLeast: Double(users - 2))
            #expect(
                try await admin.total("remint_lookup_verdicts_total", [#"verdict="exists""#]) == Double(users - 2))

            await shop.close(expecting: 0)
            await server.stop()
        }

        @Test func `the demonstration asks the vendors, and names the users they do not know`() async throws {
            let demo = try await Command.remint(["demo", "--with-lookups", "--json"])
            #expect(demo.status == 0, "\(demo.errorText)")
            let lines = try #require(
                try JSONSerialization.jsonObject(with: demo.standardOutput) as? [[String: Any]])
            let jobs = lines.filter { $0["sdk"] as? String == "batch job" }
            #expect(jobs.contains { $0["code"] as? String == "user_gone" && $0["vendor"] as? String == "braze" })
            #expect(jobs.contains { $0["outcome"] as? String == "minted" && $0["vendor"] as? String == "infobip" })
            #expect(lines.allSatisfy { $0["problem"] == nil })
        }
    }
}
