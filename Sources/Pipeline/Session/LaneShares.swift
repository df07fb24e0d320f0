/// How a batch is shared out: live first; the others at least their share, and whatever live leaves.
///
/// What live leaves is measured in time: a live event that comes in meanwhile waits for the batch to end, so that a batch
/// without live events is only as long as `patience`. In one with some, the live events wait for all the others: it is filled
/// up to a tenth of that.
public struct LaneShares: Sendable, Equatable {
    /// The most events of a batch.
    public let batchEvents: Int
    /// The least part of a batch that is bulk where there is enough of it, from 0 to 0.5; retries are granted the same,
    /// as long as that leaves live as much.
    public let bulkShare: Double
    /// For how long a batch without live events may keep the next live event waiting, in seconds.
    public let patience: Double

    /// The longest batch, as a multiple of `patience`: a burst of live events keeps the next one waiting no longer.
    private static let burst = 20.0
    /// A batch with live events is filled with others up to this fraction of `patience`: the live ones wait for them.
    private static let besideLive = 10.0
    /// While a live event is expected any moment, a batch takes up to this fraction of `patience`.
    private static let beforeLive = 2.0

    /// Shares of batches of up to `batchEvents`.
    public init(batchEvents: Int, bulkShare: Double, patience: Double = 0.01) {
        self.batchEvents = max(1, batchEvents)
        self.bulkShare = min(max(bulkShare, 0), 0.5)
        self.patience = patience
    }

    /// Shares of batches, of which as many as a session reads ahead have `readAhead` events.
    public init(readAhead: Int, bulkShare: Double) {
        self.init(batchEvents: readAhead / SessionLimits.batchesAhead, bulkShare: bulkShare)
    }

    /// How many events of each lane the next batch takes.
    ///
    /// - Parameters:
    ///   - waiting: how many there are.
    ///   - pace: seconds per event, as far as it is known.
    ///   - isLiveAbout: whether a live event is to be expected any moment; a batch without one is half as long then.
    public func next(of waiting: PerLane<Int>, pace: Double, isLiveAbout: Bool = false) -> PerLane<Int> {
        let limit = min(batchEvents, events(in: patience * Self.burst, pace))
        let room = waiting[.live] > 0 ? patience / Self.besideLive : isLiveAbout ? patience / Self.beforeLive : patience
        let filling = min(limit, events(in: room, pace))
        let bulkPart = waiting[.bulk] > 0 ? bulkShare : 0
        let retriesPart = waiting[.retries] > 0 ? min(bulkShare, (1 - bulkPart) / 2) : 0
        let live = min(waiting[.live], max(1, limit - part(bulkPart, of: limit) - part(retriesPart, of: limit)))
        let shared = Int((Double(live) / (1 - bulkPart - retriesPart)).rounded())
        let events = min(limit, max(filling, shared))
        let leastBulk = min(waiting[.bulk], part(bulkPart, of: events))
        let retries = min(waiting[.retries], max(part(retriesPart, of: events), events - live - leastBulk))
        let bulk = min(waiting[.bulk], max(leastBulk, events - live - retries))
        return PerLane { lane in
            switch lane {
            case .live: live
            case .retries: retries
            case .bulk: bulk
            }
        }
    }

    /// How many events a batch takes for which nobody is to wait.
    public func filling(pace: Double) -> Int { min(batchEvents, events(in: patience, pace)) }

    private func events(in seconds: Double, _ pace: Double) -> Int {
        let events = seconds / max(pace, 1e-9)
        return events >= Double(batchEvents) ? batchEvents : max(1, Int(events))
    }

    /// At least one, so that no share is so small that it never comes.
    private func part(_ part: Double, of events: Int) -> Int {
        part == 0 ? 0 : max(1, Int((Double(events) * part).rounded(.up)))
    }
}

/// How long an event takes that gets a token, learned from the batches: a moving average in which a large batch tells more than a small one,
/// whose time is mostly what any batch costs.
public struct Pace: Sendable, Equatable {
    /// Seconds per event. A tenth of a millisecond until something is known.
    public private(set) var secondsPerEvent = 0.0001

    /// The events of a batch whose time is all its events' own.
    private static let tellingBatch = 200.0
    /// The weight of one batch: a small one still counts, and no large one replaces what was learned.
    private static let weights = 0.005...0.2

    /// Nothing learned yet.
    public init() {}

    /// A batch took `seconds` in which `events` got tokens; one without tells nothing.
    public mutating func learn(events: Int, seconds: Double) {
        guard events > 0, seconds > 0, seconds.isFinite else { return }
        let weight = min(max(Double(events) / Self.tellingBatch, Self.weights.lowerBound), Self.weights.upperBound)
        secondsPerEvent += (seconds / Double(events) - secondsPerEvent) * weight
    }
}
