import Foundation
import Glibc
import Kafka
import ProgramTestSupport
import Testing

extension DeviceScenarios {
    /// SIGUSR1: finish, stay in the group, take nothing new.
    @Suite(.timeLimit(.minutes(5))) struct QuietTests {
        @Test func `a quiet worker takes nothing new and stays, and goes on when it is resumed`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            try await shop.produce([rawReport("braze-ios", #"{"code":22,"userId":"before"}"#)])
            try await admin.wait("remint_minted_total", atLeast: 1)
            #expect(try await admin.get("/health/ready").status == 200)

            worker.send(SIGUSR1)
            try #require(await worker.logged("worker.quiet"), "\(worker.errorText)")
            let ready = try await admin.get("/health/ready")
            #expect(ready.status == 503)
            #expect(ready.text.contains("SIGUSR1"))
            try await shop.produce([rawReport("braze-ios", #"{"code":22,"userId":"meanwhile"}"#)])
            #expect(try await admin.get("/health/live").status == 200)

            worker.send(SIGUSR1)
            try #require(await worker.logged("worker.quiet-over"), "\(worker.errorText)")
            try await admin.wait("remint_minted_total", atLeast: 2)
            #expect(try await admin.total("remint_minted_total") == 2)
            #expect(!worker.hasLogged("partitions.revoked"), "it stayed in its groups")
            await shop.close(expecting: 0)
        }
    }
}
