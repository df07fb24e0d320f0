import AdapterKit

/// The counts of one app's refusals at the workers of the fleet, as far as this worker knows them.
///
/// A worker with refusals writes its counts to the control topic, and so does each worker that reads counts with refusals. Users
/// are partitioned by app and subject, so that the sum of the workers' counts is the fleet's. A worker that hears its own counts
/// back and has given the others time to answer knows the fleet's.
struct FleetRefusals: Sendable {
    /// The fleet's counts, as far as a worker knows them.
    enum Total: Sendable, Equatable {
        /// The sum over so many workers.
        case fleet(RefusalCounts, workers: Int)
        /// The others cannot be asked: this worker's own.
        case own(RefusalCounts)
        /// The others have not had the time to answer.
        case unknown
    }

    private struct Heard {
        let counts: RefusalCounts
        let until: UnixTime
    }

    private var others: [String: Heard] = [:]
    /// Counts that nobody takes back any more: their workers are gone.
    private var abandoned: Set<String> = []
    /// The last own record, until it is taken back.
    private var writtenAt: UnixTime?
    /// The moment own counts with refusals were first written since there are any.
    private var askedAt: UnixTime?
    private var isHeardBack = false

    /// The greatest difference between two workers' clocks, in microseconds.
    private static let clockDifference: Int64 = 60_000_000

    /// `worker` wrote `counts`, or took them back.
    mutating func heard(_ counts: RefusalCounts?, from worker: String, _ rules: AdmissionRules, at now: UnixTime) {
        guard worker != rules.worker else {
            isHeardBack = isHeardBack || counts != nil && askedAt != nil
            // A predecessor of this name left them; they are taken back.
            if counts != nil, writtenAt == nil { writtenAt = now }
            return
        }
        guard let counts else {
            others[worker] = nil
            abandoned.remove(worker)
            return
        }
        // Another clock's moment: what lies far back was read from a topic that kept it.
        let age = now.microseconds(since: counts.at)
        guard age < Self.clockDifference else {
            others[worker] = nil
            if age > max(rules.suspensionWindow, Self.clockDifference) { abandoned.insert(worker) }
            return
        }
        abandoned.remove(worker)
        others[worker] = Heard(counts: counts, until: now.advanced(byMicroseconds: rules.countsInterval * 4))
    }

    /// The records that are due: own counts, own counts taken back (nil), and those of workers that are gone.
    ///
    /// - Parameters:
    ///   - own: this worker's counts; nil where it holds none for the app.
    ///   - hasRefusals: whether anybody refuses here, at whatever age of the token.
    mutating func due(
        _ own: RefusalCounts?, hasRefusals: Bool, _ rules: AdmissionRules, at now: UnixTime
    ) -> [(worker: String, counts: RefusalCounts?)] {
        forget(at: now, rules)
        var due: [(worker: String, counts: RefusalCounts?)] = abandoned.sorted().map { ($0, nil) }
        abandoned = []
        guard let own, hasRefusals || isAsked(at: now) else {
            if writtenAt != nil { due.append((rules.worker, nil)) }
            writtenAt = nil
            askedAt = nil
            isHeardBack = false
            return due
        }
        if own.refusing == 0 {
            askedAt = nil
            isHeardBack = false
        }
        let isFirstQuestion = own.refusing > 0 && askedAt == nil
        let isDue = writtenAt.map { now.microseconds(since: $0) >= rules.countsInterval } ?? true
        guard isDue || isFirstQuestion else { return due }
        writtenAt = now
        if isFirstQuestion { askedAt = now }
        due.append((rules.worker, own))
        return due
    }

    /// The fleet's counts, of which `own` are this worker's.
    ///
    /// - Parameter isFollowed: whether the control topic can be read and written.
    func total(_ own: RefusalCounts, isFollowed: Bool, _ rules: AdmissionRules, at now: UnixTime) -> Total {
        guard isFollowed else { return .own(own) }
        guard let askedAt else { return .unknown }
        let waited = now.microseconds(since: askedAt)
        guard isHeardBack else { return waited >= rules.countsInterval * 6 ? .own(own) : .unknown }
        guard waited >= rules.countsInterval * 2 else { return .unknown }
        var sum = own
        let heard = others.values.filter { $0.until > now && $0.counts.keyVersion == own.keyVersion }
        for other in heard {
            sum.refusing += other.counts.refusing
            sum.minted += other.counts.minted
        }
        return .fleet(sum, workers: heard.count + 1)
    }

    /// Whether another worker wrote counts with refusals lately.
    private func isAsked(at now: UnixTime) -> Bool {
        others.values.contains { $0.until > now && $0.counts.refusing > 0 }
    }

    private mutating func forget(at now: UnixTime, _ rules: AdmissionRules) {
        for (worker, heard) in others where heard.until <= now {
            guard now.microseconds(since: heard.until) > rules.suspensionWindow else { continue }
            others[worker] = nil
            // A worker that still ran would have taken them back.
            abandoned.insert(worker)
        }
    }
}
