import AdapterKit

/// The users of an app that were given tokens of one key version, and those among them who refuse theirs, over a sliding window.
///
/// A user counts, on either side, once a token of theirs is `minimumAge` old: before that nobody knows yet whether the vendor
/// accepts it. Users who were given tokens are counted in slices of the window; users who refuse are remembered one by one.
struct RefusalShare: Sendable {
    /// A user's step from the slice of one token to the slice of the next.
    private struct Move: Hashable {
        let from: Int64
        let to: Int64
    }

    /// A user who refused a token.
    private struct Refuser {
        /// The mint of the token before the latest; nil if this worker did not mint it.
        var earlier: UnixTime?
        /// The mint of the latest token; nil if this worker did not mint it.
        var latest: UnixTime?
        var refusedAt: UnixTime
    }

    /// The version of the key that signed the tokens.
    let keyVersion: String
    /// The start of counting.
    private let since: UnixTime
    /// In microseconds, like `minimumAge` and `width`.
    private let window: Int64
    private let minimumAge: Int64
    /// The length of a slice.
    private let width: Int64
    /// Users by the slices of their tokens: one for each user and slice.
    private var marks: [Int64: Int] = [:]
    /// Users of the latest slice who are not among `marks` yet: they come by the hundred, and each would be looked up.
    private var fresh = (slice: Int64(0), users: 0)
    /// Users who were given another token, until the later slice counts.
    private var moves: [Move: Int] = [:]
    private var refusers: [SubjectID: Refuser] = [:]
    /// The user of each device's most recent refusal.
    private var devices: [UInt32: SubjectID] = [:]
    /// Tokens and refusals before this moment belong to a suspension that ended.
    private var forgivenAt = UnixTime(microseconds: .min)

    /// The most users that are remembered for refusing while an app is suspended.
    private static let mostHeld = 100_000

    init(_ rules: AdmissionRules, keyVersion: String, at now: UnixTime) {
        self.keyVersion = keyVersion
        since = now
        window = max(600, rules.suspensionWindow)
        minimumAge = min(max(0, rules.minimumAge), window / 2)
        width = max(window / 600, min(window / 60, minimumAge / 4))
    }

    // MARK: What happens

    /// A token was published for `id`, whose token before it was minted at `before`; nil for none that is remembered.
    mutating func mint(for id: SubjectID, at time: UnixTime, before: UnixTime?) {
        let slice = slice(of: time)
        if slice != fresh.slice { addFresh() }
        if let before, before >= since, before <= time {
            addFresh()
            let from = self.slice(of: before)
            if from != slice, marks[from] != nil { moves[Move(from: from, to: slice), default: 0] += 1 }
            // One user and slice count once.
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

    /// Counts the users of the tokens that `mint` was told of, before anything is asked.
    mutating func addFresh() {
        if fresh.users > 0 { marks[fresh.slice, default: 0] += fresh.users }
        fresh.users = 0
    }

    /// A user refused the token that was minted at `mintedAt`; nil where this worker does not remember it.
    ///
    /// - Parameter device: the device that reports it; zero where the token itself is the evidence.
    mutating func refuse(_ id: SubjectID, mintedAt: UnixTime?, device: UInt32, at now: UnixTime) {
        if device != 0 {
            let speaker = devices[device]
            // One device speaks for one user.
            if let speaker, speaker != id { return }
            devices[device] = id
        }
        if refusers[id] == nil {
            refusers[id] = Refuser(earlier: nil, latest: mintedAt.flatMap { $0 >= since ? $0 : nil }, refusedAt: now)
        } else {
            refusers[id]?.refusedAt = now
        }
    }

    /// A user of a suspended app refused a token: no candidate for a probe.
    mutating func note(_ id: SubjectID, mintedAt: UnixTime?, at now: UnixTime) {
        guard refusers[id] != nil || refusers.count < Self.mostHeld else { return }
        refuse(id, mintedAt: mintedAt, device: 0, at: now)
    }

    /// The suspension ended, or another key signs: what was refused before counts no more, and the tokens it was about neither.
    mutating func forgive(at now: UnixTime) {
        forgivenAt = now
        devices = [:]
    }

    // MARK: What is known

    /// Whether `id` refused a token since the last suspension ended.
    func hasRefused(_ id: SubjectID) -> Bool { refusers[id].map { $0.refusedAt >= forgivenAt } ?? false }

    /// Whether anybody refused a token within the window, at any age of the token.
    func hasRefusals(at now: UnixTime) -> Bool {
        refusers.contains { $0.value.refusedAt >= forgivenAt && now.microseconds(since: $0.value.refusedAt) < window }
    }

    /// The users who refuse and the users who were given tokens, each by tokens that are old enough.
    mutating func counts(at now: UnixTime) -> RefusalCounts {
        fold(at: now)
        var counts = RefusalCounts(keyVersion: keyVersion, refusing: 0, minted: 0, at: now)
        for (slice, users) in marks where isMature(slice: slice, at: now) { counts.minted += users }
        for refuser in refusers.values {
            // The latest token that is old enough speaks for the user.
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

    /// Forgets the users who refused and whose tokens left the window.
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

    /// Whether the whole slice is old enough.
    private func isMature(slice: Int64, at now: UnixTime) -> Bool {
        slice < self.slice(of: now.advanced(byMicroseconds: -minimumAge))
    }

    /// Whether a slice lies within the window.
    private func isWithin(_ slice: Int64, at now: UnixTime) -> Bool {
        slice > self.slice(of: now.advanced(byMicroseconds: -window))
    }
}
