/// Growing pauses: by default 250 ms first, then twice as long each time, up to 10 s.
public struct Backoff: Sendable {
    private let first: Duration
    private let most: Duration
    private var next: Duration

    /// Creates pauses from `first` up to `most`.
    public init(from first: Duration = .milliseconds(250), atMost most: Duration = .seconds(10)) {
        self.first = min(first, most)
        self.most = most
        next = self.first
    }

    /// Returns the next pause and doubles the one after it.
    public mutating func pause() -> Duration {
        defer { next = min(next * 2, most) }
        return next
    }

    /// Starts again with the first pause.
    public mutating func reset() { next = first }
}
