/// The time that a session's clients have to close, as a part of the time for the session's end.
struct ClosingTime: Sendable {
    /// The time for clients of which nothing is expected any more.
    static let least = Duration.seconds(1)
    /// The longest wait for anything: the worker shows no sign of life meanwhile.
    private static let longest = Duration.seconds(30)

    private let deadline: Duration
    /// The time by which new clients are due; nil where none are requested.
    var until: ContinuousClock.Instant?
    /// Whether the brokers were waited for long enough.
    var isOver = false

    /// The closing of a session whose end may take `deadline`.
    init(_ deadline: Duration) { self.deadline = deadline }

    var rest: Duration { isOver ? .zero : min(Self.longest, until.map { max(.zero, $0 - .now) } ?? deadline) }

    var ofGroups: Duration { bounded(deadline / 2) }

    var ofProducer: Duration { isOver ? .zero : bounded(deadline / 4) }

    private func bounded(_ share: Duration) -> Duration {
        guard isOver || until != nil else { return share }
        return min(share, max(Self.least, rest))
    }
}
