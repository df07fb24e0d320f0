public import AdapterKit
import Records

/// A selection of dead letters.
public struct DeadLetterFilter: Sendable, Equatable {
    /// Selects the letter at this place.
    public var place: LetterPlace?
    /// Selects the events of this app.
    public var app: String?
    /// Selects the events with this code.
    public var code: ErrorCode?
    /// Selects the event with this id.
    public var eventID: String?
    /// Selects the events that failed at this stage.
    public var stage: Stage?
    /// Selects the letters that are at most this old, in seconds.
    public var newerThan: Int64?
    /// Selects the letters that are at least this old, in seconds.
    public var olderThan: Int64?

    /// Selects the events that a worker consumed from here.
    public var origin: OriginChoice?
    /// Selects the letters that failed at this time or later.
    public var since: UnixTime?
    /// Selects the letters that failed before this time.
    public var until: UnixTime?

    /// Creates a filter that selects all dead letters.
    public init() {}

    /// Returns whether the filter selects `entry` at the time `now`. An entry without a time matches only a filter
    /// without an age and without times.
    public func matches(_ entry: DeadLetterEntry, at now: UnixTime) -> Bool {
        if let place, entry.place != place { return false }
        if let origin, entry.origin.map(origin.matches) != true { return false }
        if let app, entry.app.map({ app.hasSameBytes(as: $0) }) != true { return false }
        if let eventID, entry.eventID.map({ eventID.hasSameBytes(as: $0) }) != true { return false }
        if let code, entry.code != code { return false }
        if let stage, entry.stage != stage { return false }
        return matchesTime(of: entry, at: now)
    }

    private func matchesTime(of entry: DeadLetterEntry, at now: UnixTime) -> Bool {
        if since != nil || until != nil {
            guard let failedAt = entry.failedAt else { return false }
            if let since, failedAt < since { return false }
            if let until, failedAt >= until { return false }
        }
        guard newerThan != nil || olderThan != nil else { return true }
        guard let age = entry.failedAt.map({ now.microseconds(since: $0) / 1_000_000 }) else { return false }
        return newerThan.map { age <= $0 } ?? true && olderThan.map { age >= $0 } ?? true
    }

    /// The filter as a string, equal for equal filters. The progress of a redrive is stored under it.
    public var description: String {
        let parts: [(String, String?)] = [
            ("app", app), ("code", code?.rawValue), ("stage", stage?.rawValue),
            ("id", eventID), ("newer", newerThan.map { "\($0)s" }), ("older", olderThan.map { "\($0)s" }),
            ("letter", place?.text), ("origin", origin?.text), ("since", since?.description),
            ("until", until?.description),
        ]
        let named = parts.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return named.isEmpty ? "all" : named.joined(separator: " ")
    }
}

/// The place of a dead letter in its topic, which a person names as `partition/offset`.
public struct LetterPlace: Hashable, Sendable {
    /// The partition.
    public let partition: Int32
    /// The offset in the partition.
    public let offset: Int64

    /// Creates the place of `offset` in `partition`.
    public init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// Parses `partition/offset`; nil where `text` is no place.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]),
            0...100_000 ~= partition, 0..<Int64.max ~= offset
        else { return nil }
        self.init(partition: partition, offset: offset)
    }

    /// The place as a person names it.
    public var text: String { "\(partition)/\(offset)" }
}

/// A topic, a partition or a position that workers consumed events from.
public struct OriginChoice: Hashable, Sendable {
    private let topic: String
    private let partition: Int32?
    private let offset: Int64?

    /// Parses `topic`, `topic/partition` or `topic/partition/offset`; nil where `text` is none of them.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard 1...3 ~= parts.count, let topic = parts.first, !topic.isEmpty else { return nil }
        self.topic = String(topic)
        partition = parts.count > 1 ? Int32(parts[1]) : nil
        offset = parts.count > 2 ? Int64(parts[2]) : nil
        guard parts.count < 2 || partition ?? -1 >= 0, parts.count < 3 || offset ?? -1 >= 0 else { return nil }
    }

    /// Returns whether `position` is in the choice.
    func matches(_ position: RecordPosition) -> Bool {
        position.topic.hasSameBytes(as: topic) && partition ?? position.partition == position.partition
            && offset ?? position.offset == position.offset
    }

    /// The choice as a person names it.
    var text: String {
        ([topic] + [partition.map { String($0) }, offset.map { String($0) }].compactMap(\.self)).joined(separator: "/")
    }
}
