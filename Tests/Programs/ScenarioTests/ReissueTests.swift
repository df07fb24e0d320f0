import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import Operations
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Batch jobs: everyone asked for gets a token, whatever is killed meanwhile.
    @Suite(.timeLimit(.minutes(5))) struct ReissueTests {
        /// The number of users; 100000 is the size of a small fleet.
        private static let subjects =
            ProcessInfo.processInfo.environment["REMINT_TEST_SUBJECTS"].flatMap { Int($0) } ?? 3000

        @Test func `every subject ends with a token of the new key, though job and worker are killed`() async throws {
            // The embedded broker forgets what a partition has too much of; what is written must all stay.
            let shop = try await Shop.open(partitions: 8)
            let input = shop.folder.appending(path: "users.csv")
            let users = (0..<Self.subjects).map { "u\($0)" }
            try Data(("name,user\r\n" + users.map { "x,\($0)\r\n" }.joined()).utf8).write(to: input)
            let ring = ["--config", shop.configuration, "--key", "infobip-mobile"]
            let made = try await Command.remint(["keys", "generate", "--id", "new"] + ring)
            try #require(made.status == 0, "\(made.errorText)")
            let promoted = try await Command.remint(["rotate", "promote", "--key-version", "new", "--now"] + ring)
            try #require(promoted.status == 0, "\(promoted.errorText)")

            var worker = try await shop.startWorker()
            // Fifteen seconds: the job is killed in the middle, however late this machine reads a fifth of it.
            let rate = max(200, Self.subjects / 60)
            let arguments = [
                "reissue", "--config", shop.configuration, "--app", "infobip-mobile", "--input", input.path, "--json",
                "--rate",
            ]
            let job = try Program(Repository.remint, arguments + ["\(rate)"])
            var keyIDs: [String: String] = [:]
            func readTokens(of subjects: Int) async throws {
                try await shop.follow(of: ["remint.tokens"]) { record in
                    keyIDs[String(decoding: record.key ?? [], as: UTF8.self)] = record.header("remint-key-id")
                    return keyIDs.count >= subjects
                }
            }
            // In the middle of the job and of the worker's work.
            try await readTokens(of: Self.subjects / 5)
            job.kill()
            worker.kill()
            await job.waitForEnd()
            await worker.waitForEnd()
            let checkpoint = try Data(contentsOf: URL(filePath: input.path + ".reissue.json"))
            let noted = try #require(try JSONSerialization.jsonObject(with: checkpoint) as? [String: Any])
            let sentBefore = try #require(noted["sent"] as? Int)
            #expect(0 < sentBefore && sentBefore < Self.subjects, "it was killed in the middle")

            worker = try await shop.startWorker()
            let again = try await Command.remint(arguments + ["0"])
            try #require(again.status == 0, "\(again.errorText)")
            #expect(again.errorText.contains("goes on behind row \(sentBefore)"), "\(again.errorText)")
            let result = try #require(
                try JSONSerialization.jsonObject(with: again.standardOutput) as? [String: Any])
            #expect(result["sent"] as? Int == Self.subjects)
            try await readTokens(of: Self.subjects)
            #expect(Set(keyIDs.keys) == Set(users.map { "infobip-mobile/\($0)" }))
            #expect(keyIDs.values.allSatisfy { $0 == "new" })
            let events = try await shop.bulkEvents()
            let copies = Dictionary(grouping: events, by: \.id)
            #expect(copies.count == Self.subjects, "nothing was skipped")
            // What may have been delivered before is sent once more, with the same id, and says so.
            #expect(events.count - Self.subjects <= max(1, rate / 10))
            #expect(copies.values.allSatisfy { $0.count <= 2 && $0.count { !$0.isResent } <= 1 })
            print("  reissue: \(Self.subjects) subjects; killed after \(sentBefore); \(events.count) events in all")
            worker.terminate()
            await worker.waitForEnd()
            await shop.close()
        }

        @Test func `a second run of a job names its checkpoint's holder and delivers nothing`() async throws {
            let shop = try await Shop.open()
            let app = "braze-ios", input = shop.folder.appending(path: "users.csv")
            try Data("user\nann\nben\n".utf8).write(to: input)
            let operatorOf = Operator(shop: shop, ring: app)
            try await operatorOf.does("prepare")
            try await operatorOf.does("promote", "--now")
            let job = ["reissue", "--config", shop.configuration, "--app", app, "--input", input.path]
            let campaign = ["rotate", "reissue", "--config", shop.configuration, "--key", app]
            for (arguments, path) in [
                (job, input.path + ".reissue.lock"),
                (campaign, shop.folder.appending(path: "keys/\(app)/reissue.lock").path),
            ] {
                let lock = try ReissueLock(path, at: UnixTime(seconds: 1_795_132_800))
                let second = try await Command.remint(arguments)
                #expect(second.status == 75, "\(second.errorText)")
                for words in ["process \(getpid()) on ", "since 2026-11-20T00:00:00Z", path] {
                    #expect(second.errorText.contains(words), "\(second.errorText)")
                }
                withExtendedLifetime(lock) {}
            }
            #expect(try await shop.bulkEvents().isEmpty)
            let first = try await Command.remint(job)
            #expect(first.status == 0 && first.outputText.contains("2 events sent"), "\(first.errorText)")
            await shop.close()
        }

        @Test func `bad rows go to a file of their own and the job goes on`() async throws {
            let shop = try await Shop.open()
            let input = shop.folder.appending(path: "users.csv")
            let text = "\u{FEFF}id;user\r\n1;\"ann \"\"A\"\"\"\r\n2\r\n3;\r\n4;x\"y\r\n5;ben"
            try Data(text.utf8).write(to: input)
            let packed = try await Program.run("gzip", ["-k", input.path])
            try #require(packed.status == 0)
            let job = try await Command.remint(
                [
                    "reissue", "--config", shop.configuration, "--app", "braze-ios", "--input", input.path + ".gz",
                    "--delimiter", ";",
                ])
            #expect(job.status == 0, "\(job.errorText)")
            #expect(job.outputText.hasPrefix("2 events sent of 5 rows; 3 rejected\n"), "\(job.outputText)")
            let again = try await Command.remint(
                [
                    "reissue", "--config", shop.configuration, "--app", "braze-ios", "--input", input.path + ".gz",
                    "--delimiter", ";",
                ])
            #expect(
                again.outputText.hasPrefix("0 events sent, 2 were sent before, of 5 rows; 3 rejected\n"),
                "\(again.outputText)")
            let rejects = try String(contentsOfFile: input.path + ".gz.reissue.rejects.jsonl", encoding: .utf8)
            #expect(
                rejects == """
                    {"line":3,"reason":"the row has 1 fields, the header 2"}
                    {"line":4,"reason":"the user is empty"}
                    {"line":5,"reason":"a quote stands inside a field that is not quoted"}

                    """)
            #expect(try await shop.bulkEvents().count == 2)
            await shop.close()
        }

        @Test func `a link in the place of a job's file is not followed`() async throws {
            let shop = try await Shop.open()
            let input = shop.folder.appending(path: "users.jsonl")
            try Data("\"a\"\n7\n".utf8).write(to: input)
            let precious = shop.folder.appending(path: "precious")
            let arguments = ["reissue", "--config", shop.configuration, "--app", "braze-ios", "--input", input.path]
            for ending in [".reissue.json", ".reissue.rejects.jsonl"] {
                try Data("precious".utf8).write(to: precious)
                let link = input.path + ending
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: precious.path)
                let job = try await Command.remint(arguments)
                #expect(job.status != 0)
                #expect(job.errorText.contains("it is a symbolic link, which is not followed"), "\(job.errorText)")
                #expect(try String(contentsOf: precious, encoding: .utf8) == "precious")
                try FileManager.default.removeItem(atPath: link)
            }
            await shop.close()
        }

        @Test func `a file with other users of the same size and time is another input`() async throws {
            let shop = try await Shop.open()
            let input = shop.folder.appending(path: "users.csv")
            func write(_ first: String) throws {
                let rows = (0..<400).map { "\(first)\($0)\n" }.joined()
                try Data(("user\n" + rows).utf8).write(to: input)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1_795_132_800)], ofItemAtPath: input.path)
            }
            let arguments = [
                "reissue", "--config", shop.configuration, "--app", "braze-ios", "--input", input.path, "--rate", "50",
                "--wave", "50", "--wave-rest", "1h",
            ]
            try write("a")
            let job = try Program(Repository.remint, arguments + ["--watch"])
            try await eventually("the first wave") { try await shop.bulkEvents().count >= 50 }
            job.kill()
            await job.waitForEnd()
            let sent = try await shop.bulkEvents().count
            try write("b")
            let refused = try await Command.remint(arguments)
            #expect(refused.status != 0)
            #expect(refused.errorText.contains("the content of the input changed"), "\(refused.errorText)")
            #expect(try await shop.bulkEvents().count == sent)
            try write("a")
            let again = try await Command.remint(
                Array(arguments.dropLast(6)) + ["--rate", "0"])
            #expect(again.status == 0, "\(again.errorText)")
            #expect(Set(try await shop.bulkEvents().map(\.id)).count == 400)
            await shop.close()
        }
    }
}

extension Shop {
    /// The bulk lane's events: their ids, and whether they are marked as possibly sent before.
    func bulkEvents() async throws -> [(id: String, isResent: Bool)] {
        try await records(of: ["remint.invalidations.bulk"]).compactMap { record in
            record.member("id").map { ($0, record.header("remint-resent") != nil) }
        }
    }
}
