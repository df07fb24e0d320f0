import AdapterKit
import Kafka

/// The progress of workers through the events of this gateway, by the offsets that their group committed. A value
/// without a clock.
///
/// Silence proves nothing: a worker publishes nothing for a report that is superseded. But it commits an event when it
/// is done with it. So an event before the committed offset was handled. Events after it that wait for long, while the
/// offset of no partition moves, show that no worker answers.
struct AskProgress: Sendable {
    /// The events of one partition that were sent within `span`.
    private struct Group: Sendable {
        let since: UnixTime
        /// The highest of their offsets.
        var last: Int64
    }

    /// The time within which events count together, in microseconds.
    private static let span: Int64 = 500_000
    /// The age from which events are looked for among the committed ones, in microseconds.
    private static let grace: Int64 = 1_000_000
    /// The time without progress from which no worker answers, in microseconds: the time that a call waits.
    private static let timeout: Int64 = 10_000_000
    /// The age from which events are forgotten, in microseconds, but for the oldest ones of a partition: while those are
    /// not handled, workers did not get on.
    private static let memory: Int64 = 600_000_000
    /// The most groups of a partition; further events count with the last group.
    private static let mostGroups = 100

    private var groups: [TopicPartition: [Group]] = [:]
    private var offsets: [TopicPartition: Int64] = [:]
    private var moved: UnixTime?
    private var resumed: UnixTime?
    private var renewed: UnixTime?

    /// The committed offsets as the answer before the last one had them: what a worker published for events before
    /// them has arrived.
    private(set) var handled: [TopicPartition: Int64] = [:]

    /// Whether the group committed an event of this gateway, or went on in one of its partitions.
    var hasMoved: Bool { moved != nil }

    /// Records that an event was accepted by the brokers.
    mutating func sent(_ partition: TopicPartition, _ offset: Int64, at now: UnixTime) {
        var found = groups[partition] ?? []
        if let last = found.indices.last,
            found.count >= Self.mostGroups || now.microseconds(since: found[last].since) < Self.span
        {
            found[last].last = max(found[last].last, offset)
        } else {
            found.append(Group(since: now, last: offset))
        }
        groups[partition] = found
    }

    /// Returns the partitions whose committed offsets matter.
    mutating func open(at now: UnixTime) -> [TopicPartition] {
        for (partition, found) in groups {
            groups[partition] =
                found.prefix(1) + found.dropFirst().filter { now.microseconds(since: $0.since) < Self.memory }
        }
        return groups.filter { $0.value.contains { now.microseconds(since: $0.since) >= Self.grace } }.map(\.key)
    }

    /// Records the committed offsets of `partitions`; a partition that is missing has none.
    ///
    /// - Parameter isRead: whether the tokens that were published before the answer were read. If not, no call ends for
    ///   it, and the next answer counts.
    mutating func committed(
        _ answer: [TopicPartition: Int64], of partitions: [TopicPartition], isRead: Bool = true, at now: UnixTime
    ) {
        handled = [:]
        for partition in partitions {
            let next = answer[partition] ?? 0
            let before = offsets[partition]
            if isRead, let before { handled[partition] = min(before, next) }
            offsets[partition] = next
            if let before, next < before {
                // The events of before are gone with their topic, or the group was set back to handle them again.
                (groups[partition], renewed) = (nil, now)
                continue
            }
            // A group leaves once the answer after the one that covers it has come: the calls for it end then.
            let found = groups[partition] ?? []
            if before.map({ next > $0 }) ?? found.contains(where: { $0.last < next }) { moved = now }
            guard isRead else { continue }
            let kept = found.filter { $0.last >= min(before ?? 0, next) }
            groups[partition] = kept.isEmpty ? nil : kept
        }
        // A partition that is not asked for any more proves nothing later.
        for partition in offsets.keys where groups[partition] == nil { offsets[partition] = nil }
    }

    /// Records that `topic` was deleted and created again: the events that it had are gone.
    mutating func createdAgain(_ topic: String, at now: UnixTime) {
        for partition in groups.keys where partition.topic == topic { groups[partition] = nil }
        for partition in offsets.keys where partition.topic == topic { offsets[partition] = nil }
        renewed = now
    }

    /// The moment when an offset moved last, or when a topic was created again; nil before that.
    var lastChange: UnixTime? { [moved, renewed].compactMap(\.self).max() }

    /// Records that workers were held until `now`.
    mutating func resume(at now: UnixTime) { resumed = now }

    /// Returns the moment from which no worker answers, at the time `now`; nil where one does or it is unknown.
    func stuckSince(at now: UnixTime) -> UnixTime? {
        for time in [moved, resumed] {
            if let time, now.microseconds(since: time) < Self.timeout { return nil }
        }
        let waiting = groups.flatMap { partition, found -> [UnixTime] in
            guard let next = offsets[partition] else { return [] }
            return found.filter { $0.last >= next }.map(\.since)
        }
        guard let oldest = waiting.min(), now.microseconds(since: oldest) >= Self.timeout else { return nil }
        return oldest
    }
}
