import AdapterKit
import Formats
import Keyring
import Pipeline
import WorkerConfiguration

/// The obstacles to reading a canary's refusals and the answers to events: apps and lanes that are held, and events that
/// no worker has taken.
extension CampaignReissue {
    /// The beginning of a watch.
    struct WatchStart {
        /// The time.
        let time: UnixTime
        /// The ends of the control topic.
        let marks: TopicMarks
    }

    /// Returns the reasons why silence since `start` proves nothing; none where workers have read whatever devices
    /// reported until now. Waits until they have.
    func doubts(
        _ rotation: Rotation, _ canary: RotationCanary, since start: WatchStart
    ) async throws -> [String] {
        let events = try await topics.liveEvents()
        var line = display
        defer { line.clear() }
        let left = try await lowest(rotation) {
            let left = try await topics.unanswered(events)
            if left > 0 {
                line.show(
                    0, of: left,
                    "\(left.of("event of the live lane waits", "events of the live lane wait")) for a worker")
            }
            return left
        }
        var doubts: [String] = []
        if let left, left > 0 {
            doubts.append("\(left.of("event of the live lane is", "events of the live lane are")) unread")
        }
        if !events.unseen.isEmpty {
            doubts.append("brokers do not show \(events.unseen.joined(separator: ", ")) to this account")
        }
        var holds = try await holds(of: canary.strata.map(\.app), at: start.time, since: start.marks)
        // Where only users who refused wait, everybody else is heard, and they are counted by their refusals.
        holds.apps = holds.apps.filter { $0.value.reach == .everyone }
        return doubts
            + names(of: holds).map { "\($0.name) was \($0.state) during the watch" }
    }

    /// Pauses the campaign because refusals may be unread. Its canary stays, and is watched again.
    ///
    /// - Returns: the error that names the way on.
    func pause(_ rotation: Rotation, because doubts: [String]) throws -> CampaignStopped {
        let reason =
            "whether the vendor refuses tokens of \(rotation.to) is unknown: \(doubts.joined(separator: "; "))"
        try campaign.step("rotate pause", detail: reason, of: rotation.id) { try $1.pause(because: reason) }
        return CampaignStopped(
            "\(reason). The campaign is paused. Go back with: \(RemintCommand("rotate abort")). Or see that the workers run (\(RemintCommand("status"))) and that no app or lane is held (\(RemintCommand("apps")), \(RemintCommand("lanes"))), then: \(RemintCommand("rotate resume")), and \(RemintCommand("rotate reissue")), which watches the same canary again"
        )
    }

    /// Returns the ring's apps, those called `names`, and the lanes whose events wait, as the end of a sentence.
    func held(_ names: [String] = []) async throws -> String {
        let holds = try await holds(of: names, at: ring.now(), since: nil)
        let parts = self.names(of: holds).map { "\($0.name) is \($0.state)" }
        return parts.isEmpty ? "" : "; \(parts.joined(separator: ", "))"
    }

    private func names(of holds: ControlHolds) -> [(name: String, state: String)] {
        holds.apps.sorted { $0.key < $1.key }.map { ("the app \($0.key)", $0.value.cause.rawValue) }
            + Lane.allCases.filter { holds.lanes[$0] != nil }.map { ("the lane \($0.rawValue)", "paused") }
    }

    /// Returns the holds of the ring's apps, of those called `names`, and of lanes.
    func holds(of names: [String], at now: UnixTime, since marks: TopicMarks?) async throws -> ControlHolds {
        let names = Set(ring.apps.map(\.name) + names)
        var holds = try await topics.holds(at: now, since: marks)
        holds.apps = holds.apps.filter { names.contains($0.key) }
        return holds
    }
}
