import AdapterKit

/// The users of an app who got tokens of one key version, and those among them who refuse their tokens, over a sliding
/// window.
///
/// A user counts on either side after a token of theirs is `minimumAge` old. Before that, it is unknown whether the
/// vendor accepts the token. Users who got tokens are counted per slice of the window; users who refuse are remembered
/// one by one.
struct RefusalShare: Sendable {
    /// A user's move from the slice of one token to the slice of the next.
    private struct Move: Hashable {
        let from: Int64
        let to: Int64
    }

    /// A user who refused a token.
    private struct Refuser {
        /// The time of the mint before the latest; nil if this worker did not mint it.
        var earlier: UnixTime?
        /// The time of the latest mint; nil if this worker did not mint it.
        var latest: UnixTime?
        var refusedAt: UnixTime
    }

    let keyVersion: String
    private let since: UnixTime
    /// The length of the window, in microseconds, like `minimumAge` and `width`.
    private let window: Int64
    private let minimumAge: Int64
    private let width: Int64
    /// The number of users per slice: one for each user and slice.
    private var marks: [Int64: Int] = [:]
    /// The number of users of the latest slice that `marks` does not have yet. They come by the hundred, and this saves
    /// a look-up for each.
    private var fresh = (slice: Int64(0), users: 0)
    /// The number of users who got another token, until the later slice counts.
    private var moves: [Move: Int] = [:]
    private var refusers: [SubjectID: Refuser] = [:]
    /// The user of each device's most recent refusal.
    private var devices: [UInt32: SubjectID] = [:]
    /// The end of the last suspension: earlier tokens and refusals do not count.
    private var forgivenAt = UnixTime(microseconds: .min)

    /// The maximum number of remembered refusing users while an app is suspended.
    private static let mostHeld = 100_000

    init(_ rules: AdmissionRules, keyVersion: String, at now: UnixTime) {
        self.keyVersion = keyVersion
        since = now
        window = max(600, rules.suspensionWindow)
        minimumAge = min(max(0, rules.minimumAge), window / 2)
        width = max(window / 600, min(window / 60, minimumAge / 4))
    }

    // MARK: What happens

    /// Records a token that was published for `id`; `before` is the time of the user's previous mint, nil if none is
    /// remembered.
    mutating func mint(for id: SubjectID, at time: UnixTime, before: UnixTime?) {
        let slice = slice(of: time)
        if slice != fresh.slice { addFresh() }
        if let before, before >= since, before <= time {
            addFresh()
            let from = self.slice(of: before)
            if from != slice, marks[from] != nil { moves[Move(from: from, to: slice), default: 0] += 1 }
            // A user counts once per slice.
            if from != slice || marks[slice] == nil { marks[slice, default: 0] += 1 }
        } else {
            fresh = (slice, fresh.users + 1)
        }
        guard !refusers.isEmpty, var refuser = refusers[id] else { return }
        if let latest = refuser.latest, isMature(latest, at: time) || refuser.earlier == nil {
            refuser.earlier = latest
        }
        refuser.latest = time
        refusers[id] = refuser
    }

    /// Adds the users of the latest slice to `marks`, before a count.
    mutating func addFresh() {
        if fresh.users > 0 { marks[fresh.slice, default: 0] += fresh.users }
        fresh.users = 0
    }

    /// Records that a user refused the token that was minted at `mintedAt`; nil if this worker does not remember it.
    ///
    /// - Parameter device: the device that reports it; zero if the token itself is the evidence.
    mutating func refuse(_ id: SubjectID, mintedAt: UnixTime?, device: UInt32, at now: UnixTime) {
        if device != 0 {
            let speaker = devices[device]
            // A device counts for one user only.
            if let speaker, speaker != id { return }
            devices[device] = id
        }
        if refusers[id] == nil {
            refusers[id] = Refuser(earlier: nil, latest: mintedAt.flatMap { $0 >= since ? $0 : nil }, refusedAt: now)
        } else {
            refusers[id]?.refusedAt = now
        }
    }

    /// Records that a user of a suspended app refused a token, so that the user is no candidate for a probe.
    mutating func note(_ id: SubjectID, mintedAt: UnixTime?, at now: UnixTime) {
        guard refusers[id] != nil || refusers.count < Self.mostHeld else { return }
        refuse(id, mintedAt: mintedAt, device: 0, at: now)
    }

    /// Forgets the refusals of `id`, who accepted a token since.
    mutating func pardon(_ id: SubjectID) { refusers[id] = nil }

    /// Ends the count of earlier tokens and refusals, because the suspension is over or another key signs.
    mutating func forgive(at now: UnixTime) {
        forgivenAt = now
        devices = [:]
    }

    // MARK: What is known

    /// Returns whether `id` refused a token since the end of the last suspension.
    func hasRefused(_ id: SubjectID) -> Bool { refusers[id].map { $0.refusedAt >= forgivenAt } ?? false }

    /// Returns whether any user refused a token within the window, at any age of the token.
    func hasRefusals(at now: UnixTime) -> Bool {
        refusers.contains { $0.value.refusedAt >= forgivenAt && now.microseconds(since: $0.value.refusedAt) < window }
    }

    /// Returns the number of users who refuse and of users who got tokens, by tokens that are old enough.
    mutating func counts(at now: UnixTime) -> RefusalCounts {
        fold(at: now)
        var counts = RefusalCounts(keyVersion: keyVersion, refusing: 0, minted: 0, at: now)
        for (slice, users) in marks where isMature(slice: slice, at: now) { counts.minted += users }
        for refuser in refusers.values {
            // The latest token that is old enough represents the user.
            let times = [refuser.latest, refuser.earlier].compactMap { $0 }
            guard let mark = times.first(where: { isMature($0, at: now) }), isWithin(slice(of: mark), at: now) else {
                continue
            }
            if mark < forgivenAt {
                counts.minted -= 1
            } else if refuser.refusedAt >= mark {
                counts.refusing += 1
            }
        }
        counts.minted = max(counts.minted, counts.refusing)
        return counts
    }

    mutating func prune(at now: UnixTime) {
        refusers = refusers.filter { isWithin(slice(of: $0.value.latest ?? $0.value.refusedAt), at: now) }
        devices = devices.filter { refusers[$0.value] != nil }
    }

    // MARK: Slices

    private mutating func fold(at now: UnixTime) {
        for (move, users) in moves where isMature(slice: move.to, at: now) {
            moves[move] = nil
            if let left = marks[move.from] { marks[move.from] = max(0, left - users) }
        }
        marks = marks.filter { isWithin($0.key, at: now) }
    }

    private func slice(of time: UnixTime) -> Int64 { time.microseconds / width }

    private func isMature(_ time: UnixTime, at now: UnixTime) -> Bool { isMature(slice: slice(of: time), at: now) }

    private func isMature(slice: Int64, at now: UnixTime) -> Bool {
        slice < self.slice(of: now.advanced(byMicroseconds: -minimumAge))
    }

    private func isWithin(_ slice: Int64, at now: UnixTime) -> Bool {
        slice > self.slice(of: now.advanced(byMicroseconds: -window))
    }
}

/// The counts of one app's refusals at the workers of the fleet, as far as this worker knows them.
///
/// A worker with refusals writes its counts to the control topic. Every worker that reads counts with refusals writes
/// its own. Users are partitioned by app and subject, so the sum of the workers' counts is the fleet's count. A worker
/// knows the fleet's counts after it has read its own record and given the other workers time to answer.
struct FleetRefusals: Sendable {
    /// The fleet's counts, if this worker knows them.
    enum Total: Sendable, Equatable {
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
