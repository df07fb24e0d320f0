/// The shares of the lanes in a batch. Live traffic has priority. The other lanes get at least their share and all room
/// that live leaves.
///
/// A time limit applies to that room, because a live event that arrives meanwhile waits for the batch to finish. A
/// batch without live events takes up to `liveDelay`. In a batch with live events, they wait for all others, so the
/// limit is a tenth of `liveDelay`.
public struct LaneShares: Sendable, Equatable {
    /// The maximum number of events in a batch.
    public let batchEvents: Int
    /// The minimum share of each batch reserved for bulk events, if there are any, from 0 to 0.5. Retries get the same
    /// share if live keeps at least as much.
    public let bulkShare: Double
    /// The maximum time for which a batch without live events may delay the next live event, in seconds.
    public let liveDelay: Double

    /// The limit of any batch, as a multiple of that time: a burst of live events delays the next one no longer.
    private static let burst = 20.0
    /// The divisor of that time for the other lanes' events in a batch with live events, which wait for them.
    private static let besideLive = 10.0
    /// The divisor of that time for a batch without live events if one may arrive at any moment.
    private static let beforeLive = 2.0

    /// Creates shares of batches of up to `batchEvents` events.
    public init(batchEvents: Int, bulkShare: Double, liveDelay: Double = 0.01) {
        self.batchEvents = max(1, batchEvents)
        self.bulkShare = min(max(bulkShare, 0), 0.5)
        self.liveDelay = liveDelay
    }

    /// Creates shares of batches from the number of events that a session reads ahead.
    public init(readAhead: Int, bulkShare: Double) {
        self.init(batchEvents: readAhead / SessionLimits.batchesAhead, bulkShare: bulkShare)
    }

    /// Returns the number of events of each lane in the next batch.
    ///
    /// - Parameters:
    ///   - waiting: the number of waiting events.
    ///   - pace: the time per event, in seconds, as measured so far.
    ///   - isLiveAbout: whether a live event may arrive at any moment; halves a batch without live events.
    public func next(of waiting: PerLane<Int>, pace: Double, isLiveAbout: Bool = false) -> PerLane<Int> {
        let limit = min(batchEvents, events(in: liveDelay * Self.burst, pace))
        let room =
            waiting[.live] > 0 ? liveDelay / Self.besideLive : isLiveAbout ? liveDelay / Self.beforeLive : liveDelay
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

    /// Returns the size of a batch that no live event waits for.
    public func filling(pace: Double) -> Int { min(batchEvents, events(in: liveDelay, pace)) }

    private func events(in seconds: Double, _ pace: Double) -> Int {
        let events = seconds / max(pace, 1e-9)
        return events >= Double(batchEvents) ? batchEvents : max(1, Int(events))
    }

    /// Returns a part of `events`, at least one, so that even a small share makes progress.
    private func part(_ part: Double, of events: Int) -> Int {
        part == 0 ? 0 : max(1, Int((Double(events) * part).rounded(.up)))
    }
}

/// The average time of an event that gets a token, learned from the batches. A moving average, in which a large batch
/// has more weight: the time of a small one is mostly the fixed cost of a batch.
public struct Pace: Sendable, Equatable {
    /// The seconds per event; 0.0001 until the first measurement.
    public private(set) var secondsPerEvent = 0.0001

    /// The number of events from which a batch has the full weight of a batch: its fixed cost hardly counts.
    private static let tellingBatch = 200.0
    /// The weight of one batch: a small one still counts, and no large one replaces what was learned.
    private static let weights = 0.005...0.2

    /// Creates a pace without measurements.
    public init() {}

    /// Adds a batch that took `seconds` and minted `events` tokens. Ignores a batch without tokens.
    public mutating func learn(events: Int, seconds: Double) {
        guard events > 0, seconds > 0, seconds.isFinite else { return }
        let weight = min(max(Double(events) / Self.tellingBatch, Self.weights.lowerBound), Self.weights.upperBound)
        secondsPerEvent += (seconds / Double(events) - secondsPerEvent) * weight
    }
}
