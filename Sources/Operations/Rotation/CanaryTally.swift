package import AdapterKit
package import Pipeline

/// The outcome of a canary's events, record by record, as a value: by the ids of the campaign's own events, without clocks.
package struct CanaryTally: Sendable {
    /// The outcome of one event.
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
        /// Users whose token may have been refused: those of `rejections` and of `askedAgain`, each once.
        package internal(set) var refused = 0
        /// Users whom the vendor does not know any more.
        package internal(set) var gone = 0

        /// Users who hold no token of the new version and might get one.
        var missing: Int { size - answered - superseded - gone }
        /// Whether so many users are gone that the others prove nothing.
        var isDeserted: Bool { gone * 2 > size }
    }

    /// A user's newest token of the new version.
    private struct Newest {
        let eventID: String
        let issuedAt: Int64
        let end: Int64
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
    private var newest: [Int: Newest] = [:]
    /// The last time that another event of a user got no token, in seconds since 1970.
    private var requests: [Int: Int64] = [:]

    /// The canary of the rows behind `firstRow`.
    ///
    /// - Parameters:
    ///   - version: the version that signs its tokens.
    ///   - ring: the version's ring.
    ///   - job: the id of the job, which its events' ids begin with.
    ///   - subjects: the subject keys of the canary's rows; nil for a row without an event.
    ///   - rings: the ring of each app, where each is judged by itself. The users of one that has moved to another ring get a token
    ///     of whichever version signs there.
    package init(
        of version: String, ring: String, job: String, firstRow: Int, subjects: [[UInt8]?],
        rings: [String: String] = [:]
    ) {
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

    /// All users together.
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
        if fates[place] == .answered { part.answered += 1 }
        if fates[place] == .superseded { part.superseded += 1 }
        if fates[place] == .gone { part.gone += 1 }
        if rejected.contains(place) { part.rejections += 1 }
        let hasAsked = askedAgain.contains(place) || isAsking(place)
        if hasAsked { part.askedAgain += 1 }
        if hasAsked || rejected.contains(place) { part.refused += 1 }
    }

    /// Returns whether an event of a user who holds a token of the new version still waits for another, or failed.
    private func isAsking(_ place: Int) -> Bool {
        guard let time = requests[place], let token = newest[place] else { return false }
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
    /// live traffic is faster, its tokens are of the new version all the same. Users whom the vendor does not know any more need
    /// none, as long as they are at most half of each app's.
    package var isAnswered: Bool {
        let whole = whole
        return whole.size > 0 && whole.missing == 0 && whole.answered * 2 >= whole.size
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
    package mutating func token(_ record: RecordBody, at now: UnixTime) {
        guard let token = try? PublishedToken(record, at: now) else { return }
        let own = place(of: token.eventID)
        guard let place = own ?? places[SubjectHash(token.subjectKey)] else { return }
        let home = self.ring(at: place)
        guard isNew(token.keyID, of: home),
            token.keyRing.map({ $0.hasSameBytes(as: home) }) ?? home.hasSameBytes(as: ring)
        else {
            return
        }
        note(token, at: place, isOwn: own != nil, isOfJob: record.has("remint-campaign"))
    }

    /// Counts a token of the new version. One more for a user whose token of the new version lives is what a device asked
    /// for that cannot use the first: such a report need not name the refused token.
    private mutating func note(_ token: PublishedToken, at place: Int, isOwn: Bool, isOfJob: Bool) {
        defer { newest[place] = Newest(eventID: token.eventID, issuedAt: token.issuedAt, end: token.expiresAt) }
        guard !isOwn else { return fates[place] = .answered }
        if let newest = newest[place], !isOfJob, !newest.eventID.hasSameBytes(as: token.eventID),
            token.issuedAt < newest.end
        {
            askedAgain.insert(place)
        }
        if fates[place] != .answered { fates[place] = .superseded }
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
    package mutating func request(of key: [UInt8], eventID: String?, at time: UnixTime) {
        guard eventID.flatMap({ place(of: $0) }) == nil, let place = places[SubjectHash(key)] else { return }
        requests[place] = max(requests[place] ?? .min, time.seconds)
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
}
