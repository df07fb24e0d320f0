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

    /// Shares of batches of up to `batchEvents`.
    public init(batchEvents: Int, bulkShare: Double, patience: Double = 0.01) {
        self.batchEvents = max(1, batchEvents)
        self.bulkShare = min(max(bulkShare, 0), 0.5)
        self.patience = patience
    }

    /// How many events of each lane the next batch takes.
    ///
    /// - Parameters:
    ///   - waiting: how many there are.
    ///   - pace: seconds per event, as far as it is known.
    ///   - isLiveAbout: whether a live event is to be expected any moment; a batch without one is half as long then.
    public func next(of waiting: PerLane<Int>, pace: Double, isLiveAbout: Bool = false) -> PerLane<Int> {
        // Twenty times the patience is the most a live burst may keep the next one waiting.
        let limit = min(batchEvents, events(in: patience * 20, pace))
        let room = waiting[.live] > 0 ? patience / 10 : isLiveAbout ? patience / 2 : patience
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

    /// Nothing learned yet.
    public init() {}

    /// A batch took `seconds` in which `events` got tokens; one without tells nothing.
    public mutating func learn(events: Int, seconds: Double) {
        guard events > 0, seconds > 0, seconds.isFinite else { return }
        let weight = min(max(Double(events) / 200, 0.005), 0.2)
        secondsPerEvent += (seconds / Double(events) - secondsPerEvent) * weight
    }
}
