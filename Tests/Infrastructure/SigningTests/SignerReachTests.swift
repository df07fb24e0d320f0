import AdapterKit
import Testing
import WorkerTestSupport

@testable import Signing

@Suite(.timeLimit(.minutes(5))) struct SignerReachTests {
    @Test func `a signer with its rings is no trouble`() async throws {
        let bench = try SignerBench([.es256, .hs512])
        try await bench.withServer {
            let trouble = await SignerProcess.trouble(
                at: bench.socket, wanted: ["ES256": [.es256], "HS512": [.hs512]], within: patience, logger: silent)
            #expect(trouble == nil)
        }
    }

    @Test func `every ring that cannot be used is named`() async throws {
        let bench = try SignerBench([.es256])
        try await bench.withServer {
            let trouble = await SignerProcess.trouble(
                at: bench.socket, wanted: ["ES256": [.rs256], "lost": [.rs256], "push": [.hs256]], within: patience,
                logger: silent)
            #expect(trouble?.contains("has no key ring lost; give it one with a path") == true)
            #expect(trouble?.contains("has a key ring ES256 that cannot be used") == true)
            #expect(trouble?.contains("push") == false)
        }
    }

    @Test func `a missing signer and an account the signer does not allow are reported with the remedy`() async throws {
        let bench = try SignerBench([.es256])
        let socket = bench.socket
        func trouble() async -> String? {
            await SignerProcess.trouble(
                at: socket, wanted: ["ES256": [.es256]], within: patience, logger: silent)
        }
        #expect(await trouble() == "cannot be reached: No such file or directory; start it with: remint signer")
        try await bench.withServer(allowing: [UInt32.max - 1]) {
            #expect(await trouble()?.contains("--allow-uid") == true)
        }
    }
}
