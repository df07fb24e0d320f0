import AdapterKit
import Foundation
import HTTPTypes
import ProgramTestSupport
import Testing
import WorkerConfiguration

@testable import Pickup

/// Calls for tokens of a vendor that needs members beside the user.
@Suite struct RequiredMemberCallTests {
    private func app() throws -> PickupApp {
        let configuration = try GatewayConfiguration.read(
            """
            kafka: { bootstrap_servers: 127.0.0.1:1 }
            keys:
              shop: { path: keys/shop }
            apps:
              rooms: { adapter: ./vendor.yaml, key: shop }
            pickup:
              listen: 127.0.0.1:8080
              session: { issuer: https://login.example, jwks: https://login.example/jwks }
            """,
            vendor: try String(
                contentsOf: Repository.root.appending(path: "Tests/Rules/DeclaredAdaptersTests/Rules/rooms.yaml"),
                encoding: .utf8))
        let app = try #require(configuration.apps.first)
        return PickupApp(app, try #require(configuration.pickup), topic: "remint.invalidations")
    }

    @Test(arguments: ["", #"{"user":"u1"}"#, #"{"user":"u1","room":{}}"#, #"{"user":"u1","room":1,"roles":[]}"#])
    func `a call that lacks a required member is refused`(_ vouched: String) throws {
        let app = try app()
        #expect(app.needsMembers)
        let problem = #expect(throws: Problem.self) { try app.requireMembers(vouchedBy: Array(vouched.utf8)) }
        #expect(problem?.status == .unprocessableContent)
        #expect(problem?.code == "missing_vouched")
    }

    @Test func `a call that vouches for all required members is admitted`() throws {
        let members = #"{"user":"u1","room":{"name":"r1"},"roles":["host"]}"#
        #expect(throws: Never.self) { try app().requireMembers(vouchedBy: Array(members.utf8)) }
    }
}
