package import AdapterKit
import Foundation
package import Pipeline

/// The outcome of a canary's events, record by record, as a value: by the ids of the campaign's own events, without clocks.
package struct CanaryTally: Sendable {
    package enum Fate: Sendable, Equatable {
        /// No record shows an outcome.
        case silent
        /// The event waits in a retry tier, for this reason.
        case deferred(String)
        /// The event was dead-lettered with this code.
        case deadLettered(String)
        /// The event was dead-lettered because the vendor does not know its user any more.
        case gone
        /// The event's user got a token of the new version that another event caused.
        case superseded
        /// The event's user got the token of the new version that it caused.
        case answered
    }

    /// A user's newest token of the new version.
    struct Newest {
        let eventID: String
        let issuedAt: Int64
        let end: Int64
        /// The end of the first one that was seen.
        let firstEnd: Int64
        /// The prefixes of the hashes of the last few.
        let hashes: [UInt64]
    }

    private let ring: String
    private let version: String
    private let prefix: String
    private let firstRow: Int
    /// The ring of each app that is judged by itself; none for a canary that is judged as a whole.
    private let rings: [String: String]
    private var places: [SubjectHash: Int] = [:]
    private var apps: [String?] = []
    private var fates: [Fate] = []
    private var rejected: Set<Int> = []
    private var askedAgain: Set<Int> = []
    /// The users whose newest token is of another version again.
    private var regressed: Set<Int> = []
    private(set) var newest: [Int: Newest] = [:]
    /// The other events of users that got no token, and the reports of users, behind the tokens of the new version.
    var late = LateRequests()
    /// The last time that another event of a user got no token, in seconds since 1970.
    private var requests: [Int: Int64] = [:]
    /// Whether the canary was answered before: at the marks that its later records lie behind.
    private let wasAnswered: Bool

    /// The canary of the rows behind `firstRow`.
    ///
    /// - Parameters:
    ///   - version: the version that signs its tokens.
    ///   - ring: the version's ring.
    ///   - job: the id of the job, which its events' ids begin with.
    ///   - subjects: the subject keys of the canary's rows; nil for a row without an event.
    ///   - rings: the ring of each app, where each is judged by itself. The users of one that has moved to another ring get a token
    ///     of whichever version signs there.
    ///   - wasAnswered: whether it is watched again. Then the campaign's own tokens may be gone: compaction keeps each user's newest
    ///     token alone.
    package init(
        of version: String, ring: String, job: String, firstRow: Int, subjects: [[UInt8]?],
        rings: [String: String] = [:], wasAnswered: Bool = false
    ) {
        self.wasAnswered = wasAnswered
        self.version = version
        self.ring = ring
        self.firstRow = firstRow
        self.rings = rings
        prefix = "\(job)-"
        fates = Array(repeating: .silent, count: subjects.count)
        apps = subjects.map { key in rings.isEmpty ? nil : key.flatMap { SubjectKey($0)?.app } }
        for (place, subject) in subjects.enumerated() {
            if let subject { places[SubjectHash(subject)] = place }
        }
    }

    package var whole: Part {
        var part = Part(app: nil)
        for place in places.values { count(place, in: &part) }
        return part
    }

    /// The users of each app, in the apps' order; none for a canary that is judged as a whole.
    package var parts: [Part] {
        var parts: [String: Part] = [:]
        for place in places.values {
            guard let app = apps[place] else { continue }
            count(place, in: &parts[app, default: Part(app: app)])
        }
        return parts.sorted { $0.key < $1.key }.map(\.value)
    }

    private func count(_ place: Int, in part: inout Part) {
        part.size += 1
        let isRegressed = regressed.contains(place)
        if isRegressed { part.regressed += 1 }
        if fates[place] == .answered, !isRegressed { part.answered += 1 }
        if fates[place] == .superseded, !isRegressed { part.superseded += 1 }
        if fates[place] == .gone { part.gone += 1 }
        if rejected.contains(place) { part.rejections += 1 }
        let isRejected = rejected.contains(place)
        let isAnswered = askedAgain.contains(place) || isAsking(place)
        // The report of a rejection is on the lane too.
        let isUnheard =
            !isAnswered && !isRejected && newest[place].map { late.hasReport(of: place, against: $0) } ?? false
        if isAnswered || isUnheard { part.askedAgain += 1 }
        if isUnheard { part.unheard += 1 }
        if isAnswered || isUnheard || isRejected { part.refused += 1 }
    }

    /// Returns whether an event of a user who holds a token of the new version still waits for another, or failed.
    private func isAsking(_ place: Int) -> Bool {
        guard let token = newest[place] else { return false }
        if let time = late.requests[place], time < token.end { return true }
        guard let time = requests[place] else { return false }
        return token.issuedAt <= time && time < token.end
    }

    /// Users who were asked for.
    package var size: Int { places.count }
    /// Users whose tokens the vendor rejected.
    package var rejections: Int { rejected.count }
    /// Users who hold a token of the new version that the campaign's own event caused.
    package var answered: Int { whole.answered }
    /// Users who hold a token of the new version that another event caused.
    package var superseded: Int { whole.superseded }

    /// Whether every user holds a token of the new version, and at least half of them because of the campaign's own event: where
    /// live traffic is faster, its tokens are of the new version all the same. Users that the vendor does not know any
    /// more need none, as long as they are at most half of each app's. Of a canary that is watched again, the
    /// campaign's own tokens may be gone.
    package var isAnswered: Bool {
        let whole = whole
        return whole.size > 0 && whole.missing == 0 && (wasAnswered || whole.answered * 2 >= whole.size)
            && !parts.contains(where: \.isDeserted)
    }

    /// Returns the apps whose refused users exceed `limit`, each by itself; where none does, all users together if theirs
    /// do.
    package func exceeding(_ limit: RejectionLimit) -> [Part] {
        let whole = whole
        switch limit {
        case .share:
            let parts = parts.filter { limit.isExceeded(by: $0.refused, of: $0.size) }
            if !parts.isEmpty { return parts }
        case .count: break
        }
        return limit.isExceeded(by: whole.refused, of: whole.size) ? [whole] : []
    }

    /// Counts a record of the token topic, read at the time `now`.
    ///
    /// A further token for a user who got one of the new version is what a device asked for that cannot use the first, if it answers
    /// a report (`remint-reported-at`). Such a report need not name the refused token, and a worker with an old copy of the ring may
    /// answer it with another version. Tokens that answer no report are no refusals: batch jobs, the gateway's renewals for
    /// connected devices, and its asks for callers whose token it does not know or that is about to end. A caller who has a live
    /// token gets that one, so a device that cannot use its token has to report it.
    ///
    /// - Parameter isLate: whether the record lies behind the marks at which the canary was answered. Then it is a further token
    ///   even where compaction removed the user's first one.
    package mutating func token(_ record: RecordBody, at now: UnixTime, isLate: Bool = false) {
        guard let token = try? PublishedToken(record, at: now) else { return }
        let own = place(of: token.eventID)
        guard let place = own ?? places[SubjectHash(token.subjectKey)] else { return }
        let home = self.ring(at: place)
        guard token.keyRing.map({ $0.hasSameBytes(as: home) }) ?? home.hasSameBytes(as: ring) else { return }
        let isFurther =
            newest[place].map { !$0.eventID.hasSameBytes(as: token.eventID) && token.issuedAt < $0.end } ?? isLate
        if own == nil {
            late.answered(token.eventID)
            if isFurther, token.reportedAt != nil { askedAgain.insert(place) }
        }
        guard isNew(token.keyID, of: home) else {
            if isLate || newest[place] != nil { regressed.insert(place) }
            return
        }
        regressed.remove(place)
        newest[place] = Newest(token, after: newest[place])
        if own != nil { fates[place] = .answered } else if fates[place] != .answered { fates[place] = .superseded }
    }

    private func ring(at place: Int) -> String { apps[place].flatMap { rings[$0] } ?? ring }

    /// Returns whether `version` of the ring `home` can be the one that a user of the canary gets.
    private func isNew(_ version: String, of home: String) -> Bool {
        home.hasSameBytes(as: ring) ? version.hasSameBytes(as: self.version) : true
    }

    /// Counts a dead letter. It is a rejection where its code blames the key, and the key may be the new version's: a
    /// report that does not show the signer of its token is no reason to continue.
    ///
    /// - Parameter refused: the refused token, if it is one of ours. Letters of older workers name none; then only
    ///   `rejected_by_vendor` is known to blame the key.
    package mutating func letter(key: [UInt8]?, eventID: String?, code: ErrorCode?, refused: RefusedToken?) {
        if let place = eventID.flatMap({ place(of: $0) }) {
            settle(place, code == .userGone ? .gone : .deadLettered(code?.rawValue ?? "unknown"))
        }
        guard code == .rejectedByVendor || code == .notFixableByToken else { return }
        if let refused {
            guard let place = places[SubjectHash(refused.subjectKey)] else { return }
            let home = ring(at: place)
            guard refused.ring.hasSameBytes(as: home), refused.keyID.map({ isNew($0, of: home) }) ?? true else {
                return
            }
            rejected.insert(place)
        } else if code == .rejectedByVendor, let place = key.flatMap({ places[SubjectHash($0)] }) {
            rejected.insert(place)
        }
    }

    /// Counts an event of the user `key` that another than the campaign caused and that got no token at `time`: it waits in
    /// a retry tier, or was dead-lettered for no fault of its own.
    ///
    /// - Parameter isLate: whether the record lies behind the marks at which the canary was answered. Of an earlier
    ///   record the clocks of two workers decide whether the event failed behind the token.
    package mutating func request(of key: [UInt8], eventID: String?, at time: UnixTime, isLate: Bool = false) {
        guard eventID.flatMap({ place(of: $0) }) == nil, let place = places[SubjectHash(key)] else { return }
        guard !isLate else { return late.request(of: place, at: time.seconds) }
        requests[place] = max(requests[place] ?? .min, time.seconds)
    }

    /// Counts a device's report that lies behind the marks at which the canary was answered.
    package mutating func report(_ report: DeviceReport) {
        guard let place = places[SubjectHash(report.subjectKey)] else { return }
        late.report(report, of: place)
    }

    /// Counts a record of a retry tier.
    package mutating func retry(eventID: String?, reason: String) {
        if let place = eventID.flatMap({ place(of: $0) }) { settle(place, .deferred(reason)) }
    }

    /// Returns the reasons that keep the canary from being answered, as counts; empty where there are none.
    ///
    /// - Parameter lag: events that no worker has consumed; nil where that is unknown.
    package func reasons(lag: Int?) -> String {
        var counts: [String: Int] = [:]
        for place in places.values {
            guard !regressed.contains(place) else {
                counts["given a token of another version again", default: 0] += 1
                continue
            }
            switch fates[place] {
            case .answered: break
            case .superseded: counts["superseded by another event of the user", default: 0] += 1
            case .deferred(let reason): counts["deferred (\(reason))", default: 0] += 1
            case .deadLettered(let code): counts["dead-lettered (\(code))", default: 0] += 1
            case .gone: counts["dead-lettered (\(ErrorCode.userGone.rawValue))", default: 0] += 1
            case .silent: counts[lag ?? 0 > 0 ? "not consumed by any worker" : "without an outcome", default: 0] += 1
            }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }

    /// Records the outcome of an event. A token is final, whatever event caused it; of other outcomes the latest
    /// counts.
    private mutating func settle(_ place: Int, _ fate: Fate) {
        if fates[place] != .answered, fates[place] != .superseded { fates[place] = fate }
    }

    private func place(of eventID: String) -> Int? {
        guard eventID.hasPrefix(prefix), let row = Int(eventID.dropFirst(prefix.count)) else { return nil }
        let place = row - 1 - firstRow
        return fates.indices.contains(place) ? place : nil
    }

    /// The users of one app, or all of them.
    package struct Part: Sendable, Equatable {
        /// The app; nil for all users together.
        package let app: String?
        /// Users who were asked for.
        package internal(set) var size = 0
        /// Users who hold a token of the new version that the campaign's own event caused.
        package internal(set) var answered = 0
        /// Users who hold a token of the new version that another event caused.
        package internal(set) var superseded = 0
        /// Users whose tokens the vendor rejected.
        package internal(set) var rejections = 0
        /// Users who asked for another token although that of the new version lived.
        package internal(set) var askedAgain = 0
        /// Those of `askedAgain` whose report no token, dead letter or retry answers.
        package internal(set) var unheard = 0
        /// Users whose token may have been refused: those of `rejections` and of `askedAgain`, each once.
        package internal(set) var refused = 0
        /// Users that the vendor does not know any more.
        package internal(set) var gone = 0
        /// Users whose newest token is of another version, although they got one of the new version.
        package internal(set) var regressed = 0

        /// Users who hold no token of the new version and might get one.
        var missing: Int { size - answered - superseded - gone }
        /// Whether most users are gone, so that the others prove nothing.
        var isDeserted: Bool { gone * 2 > size }
    }
}

/// The requests of a canary's users that arrived behind the marks at which the canary was answered, by the users' places.
///
/// Offsets decide that, not clocks. A worker compares the time of a report with that of the user's token. If the clock
/// of the reporting device is behind, or the report comes within moments of the token, the worker takes it for one that
/// the token answers, and no record mentions it. To a canary such a report is a refusal: by the time it arrived, its
/// user had got the token.
struct LateRequests: Sendable {
    /// The number of reports that are kept of a user: whoever sends more of them has refused.
    private static let most = 64

    /// The earliest time at which a user's event got no token, in seconds since 1970.
    private(set) var requests: [Int: Int64] = [:]
    private var reports: [Int: [DeviceReport]] = [:]
    /// The ids of the events that got a token.
    private var answered: Set<String> = []

    /// Notes that an event of the user at `place` got no token at `time`.
    mutating func request(of place: Int, at time: Int64) { requests[place] = min(requests[place] ?? .max, time) }

    /// Notes a report of the user at `place`.
    mutating func report(_ report: DeviceReport, of place: Int) {
        if reports[place]?.count ?? 0 < Self.most { reports[place, default: []].append(report) }
    }

    /// Notes that the event `id` got a token of its own, which is judged instead of the report.
    mutating func answered(_ id: String) { answered.insert(id) }

    /// Returns whether a report of the user at `place` refuses `token` and got no token: one that names a token of the new version,
    /// or none, from before the end of the first one.
    ///
    /// A worker compares no clocks where a report names the newest token. One that names another token than those of the new
    /// version does not refuse these.
    func hasReport(of place: Int, against token: CanaryTally.Newest) -> Bool {
        reports[place]?.contains { report in
            guard !answered.contains(report.eventID), report.failedToken.map(token.hashes.contains) ?? true else {
                return false
            }
            return report.producedAt.map { $0.seconds < token.firstEnd } ?? true
        } ?? false
    }
}

extension CanaryTally.Newest {
    /// The number of tokens of a user that are remembered by their hashes.
    private static let most = 16

    /// The newest one, `token`, after `last`.
    init(_ token: PublishedToken, after last: Self?) {
        self.init(
            eventID: token.eventID, issuedAt: token.issuedAt, end: token.expiresAt,
            firstEnd: last?.firstEnd ?? token.expiresAt,
            hashes: (last?.hashes ?? []).suffix(Self.most - 1) + [TokenHash(of: token.token.utf8).prefix])
    }
}

/// The confidence in a share of a sample: the lower bound of Clopper and Pearson (1934), one-sided, exact for samples of any size.
///
/// 3 of 100 do not show that more than 1 in 100 of all users would have the same result; 4 of 100 do, at 95 %.
package enum ConfidenceBound {
    /// The probability of a misleading sample.
    package static let error = 0.05

    /// Returns whether `count` of `total` show that the share of all users is above `share`.
    package static func shows(_ count: Int, of total: Int, above share: Double) -> Bool {
        guard count > 0, total > 0, share < 1 else { return false }
        guard share > 0 else { return true }
        return atLeast(min(count, total), of: total, share) < error
    }

    /// Returns the largest share that `count` of `total` show to be exceeded.
    package static func lower(_ count: Int, of total: Int) -> Double {
        guard count > 0, total > 0 else { return 0 }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if shows(count, of: total, above: middle) { low = middle } else { high = middle }
        }
        return low
    }

    /// Returns the probability of `count` or more hits in `total` trials, each a hit with the probability `share`.
    private static func atLeast(_ count: Int, of total: Int, _ share: Double) -> Double {
        let odds = log(share) - log1p(-share)
        var term = Double(total) * log1p(-share)
        var below = exp(term)
        for number in 1..<max(1, count) {
            term += log(Double(total - number + 1)) - log(Double(number)) + odds
            below += exp(term)
        }
        return max(0, 1 - below)
    }
}

/// The limit on rejections of a canary's tokens by the vendor.
package enum RejectionLimit: Sendable, Equatable {
    /// A share, judged with the confidence that the size of the canary allows.
    case share(Double)
    /// A number of users, whatever the size of the canary.
    case count(Int)

    /// 1 in 100.
    package static let standard = RejectionLimit.share(0.01)

    /// Reads `2%`, `0.5%` or `3`; nil for anything else.
    package init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .share(percent / 100)
        } else {
            guard let count = Int(text), count >= 0 else { return nil }
            self = .count(count)
        }
    }

    /// Returns whether `rejected` of `total` are too many.
    package func isExceeded(by rejected: Int, of total: Int) -> Bool {
        switch self {
        case .share(let share): ConfidenceBound.shows(rejected, of: total, above: share)
        case .count(let count): rejected > count
        }
    }
}
