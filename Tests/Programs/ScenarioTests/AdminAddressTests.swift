import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The admin server's address, which belongs to one process.
    @Suite(.timeLimit(.minutes(5))) struct AdminAddressTests {
        @Test func `a worker whose admin address is in use stops before it consumes`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            let text = try String(contentsOfFile: shop.configuration, encoding: .utf8)
            try shop.configure("127.0.0.1:0", admin.address)
            try #require(try String(contentsOfFile: shop.configuration, encoding: .utf8) != text)
            let second = try await Program.run(Repository.remint, ["run", "--config", shop.configuration])
            #expect(second.status == 75)
            #expect(
                second.errorText.contains(
                    "the admin server cannot listen at \(admin.address): another process listens there; stop it, or name another port in admin.listen"
                ), "\(second.errorText)")
            #expect(!second.hasLogged("worker.consuming"), "\(second.errorText)")
            await shop.close()
        }
    }
}
