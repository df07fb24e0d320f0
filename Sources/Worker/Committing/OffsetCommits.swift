import Pipeline

/// The offsets of events that were answered at least once, on their way to the broker.
///
/// A broker gathers commits for some milliseconds before it answers (`group.coordinator.append.linger.ms`, 5 by default), and
/// no event has to wait for that: what is answered meanwhile is committed together, with the next request.
actor OffsetCommits {
    /// By lane and partition, the next record to read.
    typealias Offsets = PerLane<[TopicPartition: Int64]>

    /// The facts that are committed beside the offsets.
    struct Note: Sendable {
        /// The highest version of what was added.
        var version: Int64 = 0
        /// The first record of each partition's log.
        var marks: [TopicPartition: LogMark] = [:]
    }

    /// So many transactions are published ahead of their offsets at most: all of them are repeated after a crash.
    private static let lead = 16
    private let send: @Sendable (Offsets, Note) async -> Void
    private var open = Offsets { _ in [:] }
    private var note = Note()
    private var ahead = 0
    private var isSending = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter send: one request with offsets and their note, and its answer. It is called for one after another.
    init(_ send: @escaping @Sendable (Offsets, Note) async -> Void) { self.send = send }

    /// Whether there are offsets of which the broker has not given its word.
    var areOpen: Bool { isSending || ahead > 0 }

    /// A transaction's offsets are to be committed. Waits where too many are before them.
    func add(_ offsets: Offsets, _ note: Note = Note()) async {
        while ahead >= Self.lead { await commit() }
        for lane in Lane.allCases { open[lane].merge(offsets[lane]) { $1 } }
        self.note = Note(version: max(self.note.version, note.version), marks: note.marks)
        ahead += 1
    }

    /// Commits what was added until now.
    func commit() async {
        // Whoever comes while a request is under way shares the next one with all who do.
        while isSending { await withCheckedContinuation { waiting.append($0) } }
        guard ahead > 0 else { return }
        let offsets = open
        open = Offsets { _ in [:] }
        ahead = 0
        isSending = true
        await send(offsets, note)
        isSending = false
        for waiter in waiting { waiter.resume() }
        waiting = []
    }
}
