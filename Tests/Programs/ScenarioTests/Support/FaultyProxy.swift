import Foundation
import FoundationNetworking
import ProgramTestSupport
import Testing

/// A proxy in front of a gateway that answers some calls itself, after a seeded plan: `Pages/faulty.mjs`.
struct FaultyProxy: Sendable {
    /// The requests and faults of the proxy.
    struct Report: Decodable {
        /// The calls of the gateway that came.
        let calls: Int
        /// The answers that the gateway itself gave.
        let passed: Int
        /// The milliseconds by which calls came before the time of their `Retry-After`.
        let early: [Int]
        /// The sessions that were in an address.
        let inAddress: Int
        /// The answers with this status and `Retry-After`.
        let tooMany: Int
        let unavailable: Int

        enum CodingKeys: String, CodingKey {
            case calls, passed, early, inAddress
            case tooMany = "429"
            case unavailable = "503"
        }
    }

    private static let pages = Repository.root.appending(path: "Tests/Services/PickupTests/Pages")
    private let program: Program
    /// `host:port`.
    let address: String

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - upstream: the gateway's address.
    ///   - folders: folders whose files it serves too, beside the pages of the tests and the gateway's own.
    static func start(_ upstream: String, seed: Int, serving folders: [URL]) async throws -> FaultyProxy {
        let all = [pages, Repository.root.appending(path: "Sources/Services/Pickup/Resources")] + folders
        let script = pages.appending(path: "faulty.mjs").path
        let program = try Program("node", [script, upstream, "\(seed)"] + all.map(\.path))
        try #require(await program.wrote("faulty "), "\(program.errorText)")
        let match = try #require(program.errorText.firstMatch(of: /faulty ([0-9.:]+)/))
        return FaultyProxy(program: program, address: String(match.1))
    }

    /// Waits until `count` calls have come.
    func calls(_ count: Int) async throws { _ = try await control("after/\(count)") }

    func setUpstream(_ address: String) async throws { _ = try await control("upstream/\(address)") }

    func report() async throws -> Report { try JSONDecoder().decode(Report.self, from: try await control("report")) }

    private func control(_ path: String) async throws -> Data {
        let url = try #require(URL(string: "http://\(address)/faults/\(path)"))
        return try await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 240)).0
    }

    /// Ends the proxy; whoever waits for its answers gets an error.
    func stop() async {
        program.kill()
        await program.waitForEnd()
    }
}
