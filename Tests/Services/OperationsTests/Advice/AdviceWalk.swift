import Foundation
import Glibc
import JOSE
import WorkerConfiguration

@testable import Keyring
@testable import Operations

/// A ring in some state with a campaign in some phase, and an operator who does what refusals advise.
final class AdviceWalk {
    /// The state of the ring and of its campaign: the versions a, which is replaced, b, which replaces it, and c.
    struct Start: CustomStringConvertible {
        var phase: Rotation.Phase?
        var kind = Rotation.Kind.rotation
        var isPaused = false
        var states: [(id: String, state: KeyVersion.State)]

        var description: String {
            let versions = states.map { "\($0.id) \($0.state.rawValue)" }.joined(separator: ", ")
            return "\(kind.rawValue) \(phase?.rawValue ?? "none")\(isPaused ? " paused" : ""); \(versions)"
        }
    }

    /// No advice leads on.
    struct Stuck: Error, CustomStringConvertible {
        let description: String
    }

    private static let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
    /// An advised command, its own advice, and so on.
    private static let depth = 5
    private static let longest = 40

    private(set) var trace: [String] = []
    private let folder = "\(AdviceWalk.parent)/remint-advice-\(UUID().uuidString)"
    private let clock = SequenceClock()
    private let cluster: ModelCluster
    private let ring: RingInUse
    /// Whether of several commands the last one is taken.
    private let takesLast: Bool

    init(_ start: Start, _ configuration: Configuration, takesLast: Bool) throws {
        self.takesLast = takesLast
        let directory = KeyRingDirectory(path: folder)
        try directory.makeFolder()
        let versions = start.states.map { id, state in
            #"{"id":"\#(id)","state":"\#(state.rawValue)","algorithm":"HS256","file":"\#(id).secret","encoding":"utf8"}"#
        }
        for (id, _) in start.states {
            try KeyFile.write(SecretBytes(copying: "a secret for \(id)".utf8), to: "\(folder)/\(id).secret")
        }
        try KeyFile.write(
            SecretBytes(copying: #"{"versions":[\#(versions.joined(separator: ","))]}"#.utf8), to: directory.listing)
        cluster = ModelCluster(now: { [clock] in clock.now() })
        ring = RingInUse(
            configuration: configuration, ring: configuration.keys[0], directory: directory,
            now: { [clock] in clock.now() })
        guard let phase = start.phase else { return }
        var rotation = Rotation(id: "c-1", kind: start.kind, from: "a", to: "b", at: clock.now(), isOfOwnKey: true)
        rotation.phase = phase
        if start.isPaused { rotation.pause = "lunch" }
        try RotationFile(directory).save(rotation)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Takes `step`, and where it is refused, first what the refusal advises, until it is taken.
    func accomplish(_ step: AdvisedCommand, _ depth: Int = 0) async throws {
        while true {
            guard depth < Self.depth, trace.count < Self.longest else {
                throw Stuck(description: "\(step) leads nowhere")
            }
            do {
                try await make(step)
                trace.append("\(step): done")
                return
            } catch let error as KeyRingError where Self.isFinal(error) {
                trace.append("\(step): \(error.message)")
                return
            } catch {
                trace.append("\(step): \(error)")
                let advice = AdvisedCommand.commands(in: "\(error)")
                // What makes the rest of the sentence possible comes first in any case.
                let before = advice.prefix { $0 == .moveAway || $0 == .keysGenerate }
                for command in before { try await accomplish(command, depth + 1) }
                guard let first = advice.dropFirst(before.count).first, let last = advice.last else {
                    throw Stuck(description: "no command is advised: \(error)")
                }
                let chosen = try filled(takesLast ? last : first)
                try await accomplish(chosen, depth + 1)
                // An operator who named no version has named one now.
                if case (.revoke(nil, _), .revoke(.some, _)) = (step, chosen) { return }
            }
        }
    }

    /// A version that is retired, revoked or not there: no step brings it back.
    private static func isFinal(_ error: KeyRingError) -> Bool {
        error.message.contains("generate or import a new one") || error.message.contains("has no version")
            || error.message.contains("is revoked and cannot become")
    }

    /// The command with a version in place of ID.
    private func filled(_ command: AdvisedCommand) throws -> AdvisedCommand {
        let listing = try ring.directory.readListing()
        let rotation = try RotationFile(ring.directory).load()
        func usable() throws -> String {
            let found = listing.versions.first {
                ($0.state == .prepared || $0.state == .passive) && ![rotation?.from, rotation?.to].contains($0.id)
            }
            if let found { return found.id }
            try generate()
            return try ring.directory.readListing().versions.last?.id ?? ""
        }
        return switch command {
        case .prepare("ID"): .prepare(try usable())
        case .promoteVersion("ID"): .promoteVersion(try usable())
        case .revoke("ID", let successor):
            .revoke(listing.versions.first { $0.state == .revoked }?.id, promoting: successor)
        case .revoke(let id, "ID"): .revoke(id, promoting: try usable())
        default: command
        }
    }

    private func make(_ command: AdvisedCommand) async throws {
        let campaign = Campaign(ring: ring)
        switch command {
        case .prepare(let id):
            let rotation = try campaign.prepare(id, why: nil)
            try campaign.addMissingKey(of: rotation, rsaBits: 2048)
        case .promote: _ = try campaign.promote(isForced: true)
        case .reissue: try await reissue(campaign)
        case .resume: try campaign.resume()
        case .abort: _ = try campaign.abort()
        case .retire:
            let rotation = try campaign.derived()
            var check = rotation
            try check.retired()
            try campaign.retire(rotation.id, isForced: false)
        case .revoke(let id, let successor):
            let plan = try campaign.revocation(of: id, promoting: successor)
            let rotation = try campaign.revoke(plan, why: nil)
            guard rotation != nil || plan.beside != nil else {
                throw RotationError("no version signs; \(plan.remedy)")
            }
        case .keysGenerate: try generate()
        case .promoteVersion(let id): try ring.promote(id, isForced: true)
        case .retireVersion(let id): _ = try ring.retire(id, isForced: true)
        case .moveAway: try FileManager.default.removeItem(atPath: "\(folder)/rotation.json")
        }
    }

    private func generate() throws {
        var editor = try ring.editor()
        let key = try KeyGeneration.key(.hs256, encoding: .utf8, rsaBits: 2048, id: nil)
        try editor.add(key, id: editor.listing.freshID(at: ring.now()), encoding: .utf8, at: ring.now())
    }

    private func reissue(_ campaign: Campaign) async throws {
        let terms = CampaignTerms(
            canary: 0, watch: .zero, answerWithin: .zero, maxRejections: .standard, pace: ReissuePace(rate: nil),
            loading: .zero)
        let result = try await CampaignReissue(
            campaign: campaign, terms: terms, topics: cluster, display: NoDisplay(), note: { _ in }
        ).run()
        guard case .reissued = result else { throw Stuck(description: "the re-issue was paused") }
    }
}
