/// The number of events that a worker reads ahead, and so the size of its commits, learned from the times that commits take.
///
/// A broker with a quota for produced bytes makes the producer wait for as long as the quota needs for the bytes that were sent. A
/// transaction that waits for longer than its timeout is aborted. So commits get smaller while they are slow, and grow again.
public struct CommitSize: Sendable, Equatable {
    /// The seconds from which on a commit is slow: a quarter of the transaction timeout.
    static let slow = 1.0
    /// The seconds up to which a commit is quick.
    static let quick = 0.25
    /// The least number: batches of one event.
    static let least = 2

    /// The most events to read ahead; nil for no limit.
    public private(set) var limit: Int?

    /// Creates a size without a limit.
    public init() {}

    /// Notes the end of a commit.
    ///
    /// - Parameters:
    ///   - seconds: the duration of the commit.
    ///   - isCommitted: whether its events were published.
    ///   - events: the events to read ahead without a limit.
    ///   - isThrottled: whether brokers make the producer wait. Without that, a slow commit has another reason, which smaller commits
    ///     do not change.
    public mutating func ended(in seconds: Double, isCommitted: Bool, of events: Int, isThrottled: Bool) {
        if isThrottled, seconds > Self.slow {
            // After a commit that took too long, the next one must be far within the time.
            limit = max(Self.least, min(limit ?? events, events) / (isCommitted ? 2 : 8))
        } else if let size = limit, isCommitted, seconds <= Self.quick {
            limit = size > events / 2 ? nil : size * 2
        }
    }
}
