/// The times of fetching a key set, and of serving the last one.
public struct KeySetTimes: Sendable {
    /// The time for which a set is fresh if its document gives no `max-age`.
    public var refreshEvery: Duration
    /// The bounds on a document's own freshness (`max-age`).
    public var freshness: ClosedRange<Duration>
    /// The least time between the beginnings of two fetches while there is a set, whatever is asked for.
    public var coolDown: Duration
    /// The time for which a stale set serves while it cannot be fetched.
    public var staleFor: Duration
    /// The pause after a first fetch that failed, or that brought no usable key; it doubles with each that does.
    public var firstRetry: Duration
    /// The longest pause after such a fetch.
    public var longestRetry: Duration
    /// The longest time that callers wait for a fetch. Callers that ask later than that into a fetch must retry later.
    public var maxWait: Duration

    /// Times for key sets. By default a set is fresh for 10 minutes, or for its document's `max-age` between a minute
    /// and a day. It serves a day longer while it cannot be fetched, and is fetched at most every 30 seconds.
    public init(
        refreshEvery: Duration = .seconds(600), freshness: ClosedRange<Duration> = .seconds(60) ... .seconds(86_400),
        coolDown: Duration = .seconds(30), staleFor: Duration = .seconds(86_400), firstRetry: Duration = .seconds(1),
        longestRetry: Duration = .seconds(60), maxWait: Duration = .seconds(10)
    ) {
        self.refreshEvery = refreshEvery
        self.freshness = freshness
        self.coolDown = coolDown
        self.staleFor = staleFor
        self.firstRetry = firstRetry
        self.longestRetry = longestRetry
        self.maxWait = maxWait
    }

    /// Returns the time for which a set is fresh whose document gives `maxAge`.
    func lifetime(_ maxAge: Duration?) -> Duration {
        guard let maxAge else { return refreshEvery }
        return min(max(maxAge, freshness.lowerBound), freshness.upperBound)
    }

    /// Returns the pause after `failures` fetches in a row that failed, or that returned no usable key.
    func pause(after failures: Int) -> Duration {
        var pause = firstRetry
        for _ in 1..<max(failures, 1) {
            guard pause < longestRetry else { break }
            pause *= 2
        }
        return min(pause, longestRetry)
    }
}
