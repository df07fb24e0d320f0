import AsyncTestSupport
import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The measurements, small: that they finish and report what they promise, not how fast this machine is.
    @Suite(.timeLimit(.minutes(5))) struct BenchTests {
        private func json(_ arguments: [String]) async throws -> [String: Any] {
            let program = try await Program.run(Repository.bench, arguments + ["--json"])
            try #require(program.status == 0, "\(program.errorText)")
            return try #require(JSONSerialization.jsonObject(with: Data(program.outputText.utf8)) as? [String: Any])
        }

        private func median(_ object: [String: Any]?, _ name: String) throws -> Double {
            let spread = try #require(object?[name] as? [String: Double], "no \(name)")
            let (low, median, high) = (spread["low"] ?? 0, spread["median"] ?? 0, spread["high"] ?? 0)
            #expect(low <= median && median <= high)
            return median
        }

        @Test(arguments: ["RS256", "ES256", "HS256"])
        func `remint-bench mint compares tokens with raw signatures, on one core and on all`(_ algorithm: String)
            async throws
        {
            let result = try await json(["mint", "--algorithm", algorithm, "--rounds", "3", "--seconds", "0.05"])
            #expect(result["algorithm"] as? String == algorithm)
            let rows = try #require(result["results"] as? [[String: Any]])
            #expect(rows.first?["threads"] as? Int == 1)
            for row in rows {
                #expect(try median(row, "tokens_per_second") > 0)
                #expect(try median(row, "raw_per_second") > 0)
                #expect(try median(row, "ratio") > 0)
            }
        }

        @Test func `remint-bench pickup reports devices' waits, and that nobody has another's token`() async throws {
            let result = try await json(["pickup", "--devices", "60", "--answered", "20", "--returning", "10"])
            #expect(result["answered"] as? Int == 20)
            #expect(try #require(result["shortest_life_seconds"] as? Int) > 3000)
        }

        @Test func `remint-bench worker drains its backlogs on an embedded broker and times a steady rate`()
            async throws
        {
            let result = try await json([
                "worker", "--algorithm", "HS256", "--events", "2000", "--rounds", "1", "--rate", "50", "--seconds", "1",
                "--remint", Repository.remint,
            ])
            #expect(result["delivery"] as? String == "at_least_once")
            #expect(try median(result, "events_per_second") > 0)
            #expect(try median(result, "ratio") > 0)
            #expect(result["peak_bytes"] as? Int ?? 0 > 1 << 20)
            let waits = try #require(result["produced_to_visible_milliseconds"] as? [String: Double])
            #expect(try #require(waits["p50"]) <= #require(waits["p99"]))
        }

        @Test(arguments: [
            (["mint", "--algorithm", "PS512"], "RS256 (Braze), ES256 (OneSignal) or HS256 (Infobip)"),
            (["mint", "--key", "x"], "--key needs one --algorithm"),
            (["mint", "--rounds", "0"], "--rounds is 1 to 1000"),
            (["worker", "--delivery", "exactly_once"], "the embedded broker isolates no transaction"),
            (["growth", "--apps", "0"], "--apps is 1 to 1000000"),
            (["growth", "--delivery", "exactly_once"], "the embedded broker isolates no transaction"),
            (["growth", "--backlog", "0"], "--events and --backlog are 1 to 1000000000"),
            (["pickup", "--remint", "no/remint"], "no/remint: no such program; build it with make release"),
        ])
        func `a wrong option of remint-bench is one line, and exit code 2`(_ arguments: [String], _ words: String)
            async throws
        {
            let program = try await Program.run(Repository.bench, arguments)
            #expect(program.status == 2)
            #expect(program.errorText.contains(words), "\(program.errorText)")
        }
    }
}
