import AsyncTestSupport
import Foundation
import JOSE
import Keyring
import Testing
import WorkerConfiguration

/// A refusal's advice is a command that works in that state: from every state of ring and campaign, and for every step,
/// an operator who follows the refusals gets on.
///
/// Of the 27,720 walks every seventieth is taken, and every seventh in a long run. `REMINT_TEST_SEED` chooses the first
/// one, and `REMINT_TEST_ADVICE=all` takes all walks.
@Suite struct AdviceTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let stride = environment["REMINT_TEST_ADVICE"] == "all" ? 1 : Scale.isLong ? 7 : 70
    private static let seed = environment["REMINT_TEST_SEED"].flatMap { UInt($0) } ?? 1

    private static let steps: [AdvisedCommand] = [
        .prepare(nil), .promote, .reissue, .resume, .abort, .retire, .revoke(nil, promoting: nil), .promoteVersion("b"),
        .promoteVersion("c"), .retireVersion("a"), .retireVersion("b"),
    ]

    /// The states of a version; nil where the ring does not have it.
    private static let states: [KeyVersion.State?] = KeyVersion.State.allCases + [nil]

    /// Every state of a ring that can be read.
    private static let rings: [[(id: String, state: KeyVersion.State)]] = {
        var rings: [[(id: String, state: KeyVersion.State)]] = []
        for a in states {
            for b in states {
                for c in [nil, .passive, .active] as [KeyVersion.State?] {
                    let ring = [("a", a), ("b", b), ("c", c)].compactMap { id, state in
                        state.map { (id: id, state: $0) }
                    }
                    let active = ring.count { $0.state == .active }
                    guard active == 1 || active == 0 && ring.contains(where: { $0.state == .revoked }) else { continue }
                    rings.append(ring)
                }
            }
        }
        return rings
    }()

    @Test(arguments: [nil] + Rotation.Phase.allCases.map { $0 }, Rotation.Kind.allCases)
    func `an operator who follows the advice of refusals accomplishes every step`(
        _ phase: Rotation.Phase?, _ kind: Rotation.Kind
    ) async throws {
        let configuration = try CampaignSequenceTests.configuration()
        var (count, walks, longest) = (Int(Self.seed % UInt(Self.stride)), 0, 0)
        for states in Self.rings where phase != nil || kind == .rotation {
            for (isPaused, takesLast) in [(false, false), (false, true), (true, false)] {
                guard !isPaused || phase.map({ !$0.isOver }) == true else { continue }
                let start = AdviceWalk.Start(phase: phase, kind: kind, isPaused: isPaused, states: states)
                for step in Self.steps {
                    count += 1
                    guard count % Self.stride == 0 else { continue }
                    let walk = try AdviceWalk(start, configuration, takesLast: takesLast)
                    defer { walk.remove() }
                    do { try await walk.accomplish(step) } catch {
                        let trace = walk.trace.joined(separator: "\n")
                        Issue.record("REMINT_TEST_SEED=\(Self.seed): \(start): \(step): \(error)\n\(trace)")
                        return
                    }
                    walks += 1
                    longest = max(longest, walk.trace.count)
                }
            }
        }
        print(
            "  advice: \(walks) walks from \(phase?.rawValue ?? "no campaign") (\(kind.rawValue)); longest \(longest)")
    }
}
