/// Growing pauses: a quarter of a second or another first one, then twice as long each time, up to ten seconds or less.
public struct Backoff: Sendable {
    private let first: Duration
    private let most: Duration
    private var next: Duration

    /// Pauses from `first` up to `most`.
    public init(from first: Duration = .milliseconds(250), atMost most: Duration = .seconds(10)) {
        self.first = min(first, most)
        self.most = most
        next = self.first
    }

    /// The next pause.
    public mutating func pause() -> Duration {
        defer { next = min(next * 2, most) }
        return next
    }

    /// Begins anew.
    public mutating func reset() { next = first }
}
