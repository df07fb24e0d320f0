import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// The workers behind a gateway: what they do not answer, and when an operator holds them.
    @Suite(.timeLimit(.minutes(5))) struct PickupWorkersTests {
        private static let path = "/v1/apps/braze-ios/token"

        private static func dependency(_ name: String, _ answer: Gateway.Answer) -> String? {
            answer.body?["dependencies"]?[name]?.string
        }

        private static func stream(_ gateway: Gateway, _ session: String) throws -> Program {
            try Program(
                "curl",
                [
                    "-sN", "--max-time", "300", "-o", "/dev/stderr", "-H", "Authorization: Bearer \(session)",
                    "http://\(gateway.address)\(path)/stream",
                ])
        }

        private static func remint(_ shop: borrowing Shop, _ arguments: String...) async throws {
            let program = try await Command.remint(
                arguments + ["--config", shop.configuration, "--brokers", shop.broker.bootstrapServers])
            try #require(program.status == 0, "\(program.errorText)")
        }

        @Test func `a report that a worker does not answer ends its call before its wait, and blames no worker`()
            async throws
        {
            let shop = try await Shop.open(admission: "suspend_after: 100000")
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            var token = try #require(try await gateway.call(Self.path, session: session).text("token"))
            // Each names the token that the device got last as expired: that is a matter of a clock, and after one more
            // token none helps. A report that names an older one gets the newest without a worker.
            func report() async throws -> (Gateway.Answer, Duration) {
                let start = ContinuousClock.now
                let report = #"{"errorCode":22,"userId":"ann","errorReason":"expired","signature":"\#(token)"}"#
                let answer = try await gateway.call(
                    "/v1/apps/braze-ios/reports", method: "POST", session: session,
                    headers: ["Prefer": "wait=30", "Remint-Device": UUID().uuidString], body: Array(report.utf8))
                return (answer, .now - start)
            }
            var statuses: [Int] = []
            for _ in 0..<8 {
                let (answer, time) = try await report()
                statuses.append(answer.status)
                #expect(time < .seconds(20), "\(answer.text)")
                #expect([200, 202].contains(answer.status), "\(answer.text)")
                if answer.status == 200 { token = try #require(answer.text("token")) }
            }
            #expect(statuses.contains(202), "\(statuses)")
            let health = try await gateway.call("/health/ready")
            let workers = Self.dependency("workers", health)
            #expect(workers == "ok" || workers == "not known", "\(health.text)")
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `a paused live lane is a state of its own, and its end serves connected devices`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let (ann, ben) = (try gateway.session("ann"), try gateway.session("ben"))
            #expect(try await gateway.call("\(Self.path)?wait=30", session: ann).status == 200)
            try await Self.remint(shop, "lanes", "pause", "live")
            let unready = try await gateway.health {
                Self.dependency("lane", $0)?.hasPrefix("an operator paused the live lane at ") == true
            }
            #expect(unready.status == 503, "\(unready.text)")
            #expect(Self.dependency("workers", unready) == "ok" || Self.dependency("workers", unready) == "not known")
            let refused = try await gateway.call("\(Self.path)?wait=30", session: ben)
            #expect(refused.status == 503 && refused.text("code") == "lane_paused", "\(refused.text)")
            #expect(try await gateway.call(Self.path, session: ann).status == 200, "what is known is served")
            try #require(await gateway.program.logged("gateway.lane-paused"))
            let stream = try Self.stream(gateway, ben)
            try #require(await stream.wrote(#""code":"lane_paused""#), "\(stream.errorText)")

            try await Self.remint(shop, "lanes", "resume", "live")
            _ = try await gateway.health { $0.status == 200 }
            try #require(await gateway.program.logged("gateway.lane-pause-over"))
            try #require(await stream.wrote("event: token"), "\(stream.errorText)")
            stream.kill()
            await stream.waitForEnd()
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `a stream that is opened while its app is paused gets its token after the pause`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            try await Self.remint(shop, "apps", "pause", "braze-ios")
            try await eventually("the app's pause") {
                try await gateway.call("\(Self.path)?wait=0", session: session).text("code") == "app_paused"
            }
            let stream = try Self.stream(gateway, try gateway.session("ben"))
            try #require(await stream.wrote(#""code":"app_paused""#), "\(stream.errorText)")
            try await Self.remint(shop, "apps", "resume", "braze-ios")
            try #require(await stream.wrote("event: token"), "\(stream.errorText)")
            stream.kill()
            await stream.waitForEnd()
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `idle connections neither end a gateway nor keep it from being called again`() async throws {
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop)
            await gateway.stop()
            func start(_ files: Int) throws -> Program {
                try Program(
                    "prlimit",
                    ["--nofile=\(files):\(files)", Repository.remint, "pickup", "--config", gateway.file.path])
            }
            let refused = try start(120)
            await refused.waitForEnd()
            #expect(refused.status == 1 && refused.errorText.contains("open files, and the system allows 120; raise"))
            #expect(
                refused.errorText.split(separator: "\n").count == 1 + refused.logCount("gateway.started"),
                "\(refused.errorText)")

            let program = try start(900)
            try #require(await program.logged("gateway.listening"), "\(program.errorText)")
            let address = String(
                try #require(program.errorText.firstMatch(of: /remint\.pickup\.address=([0-9.:]+)/)).1)
            // More than the process may have; they stay until libdispatch has looked at its threads, once a second.
            let flood = try await Program.run(
                "python3",
                [
                    "-c",
                    """
                    import socket, sys, time
                    host, port = sys.argv[1].split(":")
                    open_ones = []
                    for number in range(1000):
                        connection = socket.socket()
                        connection.settimeout(5)
                        connection.connect((host, int(port)))
                        open_ones.append(connection)
                    time.sleep(4)
                    """, address,
                ])
            #expect(flood.status == 0, "\(flood.errorText)")
            #expect(program.status < 0, "it exited: \(program.errorText)")
            try await eventually("an answer of the gateway") {
                try await Program.run(
                    "curl", ["-s", "-m", "5", "-w", "%{http_code}", "http://\(address)/health/live"]
                ).outputText.hasSuffix("200")
            }
            program.terminate()
            await program.waitForEnd()
            await shop.broker.close()
        }
    }
}
