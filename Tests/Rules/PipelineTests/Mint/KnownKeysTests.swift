import AdapterKit
import Pipeline
import Synchronization
import Testing

/// Keys are remembered from batch to batch. A key that was replaced must not sign on because of that.
@Suite("The keys that are known")
struct KnownKeysTests {
    /// Counts how often it is asked for a key, and reports whether keys changed, or not even that.
    private final class CountingSigner: SigningPort {
        private struct State {
            var version = 1
            var asked = 0
        }

        private let state = Mutex(State())
        private let canTell: Bool

        init(canTell: Bool) { self.canTell = canTell }

        var asked: Int { state.withLock { $0.asked } }
        var keysRevision: Int? { canTell ? state.withLock { $0.version } : nil }

        /// Has another key in each ring, or none with version 0.
        func activate(_ version: Int) { state.withLock { $0.version = version } }

        func activeKey(of ring: String) -> SigningKeyReference? {
            let version = state.withLock { state in
                state.asked += 1
                return state.version
            }
            guard version > 0 else { return nil }
            return SigningKeyReference(
                ring: ring, version: "v\(version)", keyID: "stream-\(version)", algorithm: .hs512, retireAfter: nil)
        }

        func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
            requests.map { _ in .success([1]) }
        }
    }

    /// Under which keys three reports are answered; nil for one that is not.
    private func keys(_ processor: inout BatchProcessor, batch: Int) async throws -> [String?] {
        let records = (0..<3).map { place in
            InputRecord.raw(SampleReport.bloomreach(), app: "web", offset: Int64(batch * 3 + place))
        }
        return try await processor.process(records, batch: batch).map { settlement in
            guard settlement.outcome == .minted, let output = settlement.output else { return nil }
            let header = try CompactJWS(parsing: output.token).header["kid"]?.string
            #expect(output.values("remint-key-id") == [header.map { "v\($0.dropFirst(7))" }])
            return header
        }
    }

    @Test(arguments: [true, false])
    func `another key signs from the next batch on, and none signs where there is none`(canTell: Bool) async throws {
        let signer = CountingSigner(canTell: canTell)
        var processor = try TestBench().processor(signer, admission: .off)
        for (batch, version) in [1, 2, 2, 0, 0, 2, 3, 1].enumerated() {
            signer.activate(version)
            let expected = version > 0 ? "stream-\(version)" : nil
            #expect(try await keys(&processor, batch: batch) == [expected, expected, expected])
        }
    }

    @Test func `a signer that reports no changed key is not asked again`() async throws {
        for (canTell, asked) in [(true, [1, 1, 1, 2, 2]), (false, [1, 2, 3, 4, 5])] {
            let signer = CountingSigner(canTell: canTell)
            var processor = try TestBench().processor(signer, admission: .off)
            for batch in 0..<5 {
                if batch == 3 { signer.activate(2) }
                _ = try await keys(&processor, batch: batch)
                #expect(signer.asked == asked[batch])
            }
        }
    }
}
