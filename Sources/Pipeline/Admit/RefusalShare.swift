import AdapterKit

/// What share of an app's users refuse their tokens, over a sliding window.
///
/// Who was given tokens is counted in ten slices of the window, so that a count is at most a tenth of a window too old; who
/// refuses is remembered one by one, for only different users count, and of those that one device speaks for only one.
struct RefusalShare: Sendable {
    private static let slices: Int64 = 10

    /// In microseconds.
    private let window: Int64
    /// Subjects that were minted for in each slice and not since, by the slice's number.
    private var minted: [(slice: Int64, subjects: Int)] = []
    /// When each user last refused a token.
    private var users: [SubjectID: UnixTime] = [:]
    /// For whom each device refused one.
    private var devices: [UInt32: SubjectID] = [:]
    private var prunedAt = UnixTime(microseconds: .min)

    init(window: Int64) { self.window = max(Self.slices, window) }

    /// A token was minted for a subject whose last one was minted at `before`; nil for none that is remembered.
    mutating func mint(at now: UnixTime, before: UnixTime?) {
        let slice = slice(of: now)
        if let before, before <= now, let place = minted.firstIndex(where: { $0.slice == self.slice(of: before) }) {
            // The subject counts once, in the slice of its latest token.
            minted[place].subjects = max(0, minted[place].subjects - 1)
        }
        if let last = minted.indices.last, minted[last].slice >= slice {
            minted[last].subjects += 1
        } else {
            minted.append((slice, 1))
            minted.removeAll { $0.slice <= slice - Self.slices }
        }
    }

    /// A user refused a token.
    ///
    /// - Parameter device: which device says so; zero where the token itself is the evidence.
    mutating func refuse(_ user: SubjectID, device: UInt32, at now: UnixTime) {
        prune(at: now)
        if device != 0 {
            let speaker = devices[device]
            if let speaker, speaker != user { return }
            devices[device] = user
        }
        users[user] = now
    }

    /// How many different users refused a token within the window, and how many were minted for.
    mutating func counts(at now: UnixTime) -> (refusing: Int, minted: Int) {
        prune(at: now)
        let first = slice(of: now) - Self.slices
        return (users.count, minted.reduce(0) { $0 + ($1.slice > first ? $1.subjects : 0) })
    }

    /// What was seen belongs to a key that does not sign any more, or to before a resumption.
    mutating func forgetRefusals() {
        users = [:]
        devices = [:]
    }

    private func slice(of time: UnixTime) -> Int64 { time.microseconds / (window / Self.slices) }

    /// Once for each hundredth of the window: a look at everyone for each refusal would be quadratic.
    private mutating func prune(at now: UnixTime) {
        guard users.count < 64 || now.microseconds(since: prunedAt).magnitude >= UInt64(window / 100) else { return }
        prunedAt = now
        users = users.filter { now.microseconds(since: $0.value) < window }
        devices = devices.filter { users[$0.value] != nil }
    }
}
