import AdapterKit

/// The counts of one app's refusals at the workers of the fleet, as far as this worker knows them.
///
/// A worker with refusals writes its counts to the control topic. Every worker that reads counts with refusals writes
/// its own. Users are partitioned by app and subject, so the sum of the workers' counts is the fleet's count. A worker
/// knows the fleet's counts after it has read its own record and given the other workers time to answer.
struct FleetRefusals: Sendable {
    /// The fleet's counts, if this worker knows them.
    enum Total: Sendable, Equatable {
        /// The sum over this number of workers.
        case fleet(RefusalCounts, workers: Int)
        /// This worker's own counts: the other workers cannot be reached.
        case own(RefusalCounts)
        /// Unknown: the other workers have not had time to answer.
        case unknown
    }

    private struct Heard {
        let counts: RefusalCounts
        let until: UnixTime
    }

    private var others: [String: Heard] = [:]
    /// The workers that are gone, whose counts have to be deleted.
    private var abandoned: Set<String> = []
    /// The time of this worker's last record, until it is deleted.
    private var writtenAt: UnixTime?
    /// The time at which this worker first wrote counts with its current refusals.
    private var askedAt: UnixTime?
    private var isHeardBack = false

    /// The maximum difference between two workers' clocks, in microseconds.
    private static let clockDifference: Int64 = 60_000_000

    /// Records the counts of `worker`; nil if it deleted them.
    mutating func heard(_ counts: RefusalCounts?, from worker: String, _ rules: AdmissionRules, at now: UnixTime) {
        guard worker != rules.worker else {
            isHeardBack = isHeardBack || counts != nil && askedAt != nil
            // An earlier worker of this name left the counts. Mark them as written, so that they are deleted.
            if counts != nil, writtenAt == nil { writtenAt = now }
            return
        }
        guard let counts else {
            others[worker] = nil
            abandoned.remove(worker)
            return
        }
        // The time is from another clock. A much older record was retained in the topic.
        let age = now.microseconds(since: counts.at)
        guard age < Self.clockDifference else {
            others[worker] = nil
            if age > max(rules.suspensionWindow, Self.clockDifference) { abandoned.insert(worker) }
            return
        }
        abandoned.remove(worker)
        others[worker] = Heard(counts: counts, until: now.advanced(byMicroseconds: rules.countsInterval * 4))
    }

    /// Returns the due records: own counts, deleted own counts (nil), and deletions for workers that are gone.
    ///
    /// - Parameters:
    ///   - own: this worker's counts; nil if it has none for the app.
    ///   - hasRefusals: whether any user refuses a token here, at any age of the token.
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

    /// Returns the fleet's counts, which include `own`, this worker's.
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

    /// Returns whether another worker recently wrote counts with refusals.
    func isAsked(at now: UnixTime) -> Bool {
        others.values.contains { $0.until > now && $0.counts.refusing > 0 }
    }

    private mutating func forget(at now: UnixTime, _ rules: AdmissionRules) {
        for (worker, heard) in others where heard.until <= now {
            guard now.microseconds(since: heard.until) > rules.suspensionWindow else { continue }
            others[worker] = nil
            // A running worker would have deleted its counts.
            abandoned.insert(worker)
        }
    }
}
