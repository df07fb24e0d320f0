import Pipeline
import Signing

/// The offsets of events that were answered at least once, on their way to the broker.
///
/// A broker gathers commits for some milliseconds before it answers (`group.coordinator.append.linger.ms`, 5 by
/// default), and no event has to wait for that: the next request commits all events answered meanwhile. Offsets that a
/// broker refuses stay, and are sent again until it commits them.
actor OffsetCommits {
    /// The next record to read, by lane and partition.
    typealias Offsets = PerLane<[TopicPartition: Int64]>

    struct Note: Sendable {
        /// The highest version among the added events.
        var version: Int64 = 0
        var marks: [TopicPartition: LogMark] = [:]
    }

    /// The most transactions that are published ahead of their offsets: all of them are repeated after a crash.
    private static let lead = 16
    private let send: @Sendable (Offsets, Note) async -> Offsets
    private let isGivingUp: @Sendable () -> Bool
    private let backoff: Backoff
    private var open = Offsets { _ in [:] }
    private var note = Note()
    private var ahead = 0
    private var isSending = false
    /// Whether a request is under way.
    private var isAsking = false
    /// Whether partitions were to be given up when the broker refused the last time: they are not kept for that.
    private var isHopeless = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - backoff: the pauses between requests that are refused.
    ///   - isGivingUp: whether partitions are to be given up, so that a refused request has one more try.
    ///   - send: one request with offsets and their note, and its answer: the offsets that were refused. It is called for one after
    ///     another.
    init(
        backoff: Backoff = Backoff(), isGivingUp: @escaping @Sendable () -> Bool,
        _ send: @escaping @Sendable (Offsets, Note) async -> Offsets
    ) {
        self.backoff = backoff
        self.isGivingUp = isGivingUp
        self.send = send
    }

    /// Whether partitions are to be kept for offsets of which the broker has not given its word.
    var areOpen: Bool { isAsking || ahead > 0 && !isHopeless }

    /// Adds a transaction's offsets to the next commit. Waits where too many offsets are before them.
    func add(_ offsets: Offsets, _ note: Note = Note()) async {
        while ahead >= Self.lead, !isHopeless, !Task.isCancelled { await commit() }
        for lane in Lane.allCases { open[lane].merge(offsets[lane]) { $1 } }
        self.note = Note(version: max(self.note.version, note.version), marks: note.marks)
        ahead += 1
        isHopeless = false
    }

    /// Commits the offsets that were added until now, and sends them again where the broker refuses them, until the
    /// partitions must be given up.
    func commit() async {
        // Whoever comes while a request is under way shares the next one with all who do.
        while isSending { await withCheckedContinuation { waiting.append($0) } }
        guard ahead > 0 else { return }
        isSending = true
        isHopeless = false
        var backoff = backoff
        repeat {
            let isLastTry = isGivingUp()
            if await ask() { break }
            isHopeless = isLastTry
            if !isLastTry { _ = await backoff.wait(while: { [isGivingUp] in !isGivingUp() }) }
        } while !isHopeless && !Task.isCancelled
        isSending = false
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    /// Commits the offsets left when partitions are given up, unless a request is under way.
    func commitLeft() async {
        if !isSending { await commit() }
    }

    /// - Returns: whether everything was committed.
    private func ask() async -> Bool {
        let (offsets, count) = (open, ahead)
        open = Offsets { _ in [:] }
        ahead = 0
        isAsking = true
        let refused = await send(offsets, note)
        isAsking = false
        guard Lane.allCases.contains(where: { !refused[$0].isEmpty }) else { return true }
        // The offsets added meanwhile are further on.
        for lane in Lane.allCases { open[lane].merge(refused[lane]) { newer, _ in newer } }
        ahead += count
        return false
    }
}
