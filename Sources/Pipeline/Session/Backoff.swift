/// Growing pauses: a quarter of a second, then twice as long each time, up to ten seconds or less.
public struct Backoff: Sendable {
    private let most: Duration
    private var next = Duration.milliseconds(250)

    /// Pauses of up to `most`.
    public init(atMost most: Duration = .seconds(10)) { self.most = most }

    /// The next pause.
    public mutating func pause() -> Duration {
        defer { next = min(next * 2, most) }
        return next
    }

    /// Begins anew.
    public mutating func reset() { next = .milliseconds(250) }
}
