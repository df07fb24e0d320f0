package import AdapterKit
package import Pipeline

/// The outcome of a canary's events, record by record, as a value: by the ids of the campaign's own events, without clocks.
package struct CanaryTally: Sendable {
    /// The outcome of one event.
    package enum Fate: Sendable, Equatable {
        /// Nothing was heard of it.
        case silent
        /// It waits in a retry tier, for this reason.
        case deferred(String)
        /// It was dead-lettered with this code.
        case deadLettered(String)
        /// Its user got a token of the new version that another event caused.
        case superseded
        /// Its user got a token of the new version that it caused.
        case answered
    }

    private let ring: String
    private let version: String
    private let prefix: String
    private let firstRow: Int
    private var places: [SubjectHash: Int] = [:]
    private var fates: [Fate] = []
    private var rejected: Set<Int> = []

    /// The canary of the rows behind `firstRow`.
    ///
    /// - Parameters:
    ///   - version: the version that signs its tokens.
    ///   - ring: the version's ring.
    ///   - job: the id of the job, which its events' ids begin with.
    ///   - subjects: the subject keys of the canary's rows; nil for a row without an event.
    package init(of version: String, ring: String, job: String, firstRow: Int, subjects: [[UInt8]?]) {
        self.version = version
        self.ring = ring
        self.firstRow = firstRow
        prefix = "\(job)-"
        fates = Array(repeating: .silent, count: subjects.count)
        for (place, subject) in subjects.enumerated() {
            if let subject { places[SubjectHash(subject)] = place }
        }
    }

    /// Users who were asked for.
    package var size: Int { places.count }
    /// Users whose tokens the vendor rejected.
    package var rejections: Int { rejected.count }
    /// Users who hold a token of the new version that the campaign's own event caused.
    package var answered: Int { count { $0 == .answered } }
    /// Users who hold a token of the new version that another event caused.
    package var superseded: Int { count { $0 == .superseded } }

    /// Whether every user holds a token of the new version, and at least half of them because of the campaign's own event: where
    /// live traffic is faster, its tokens are of the new version all the same.
    package var isAnswered: Bool { size > 0 && answered + superseded == size && answered * 2 >= size }

    /// A record of the token topic, read at the time `now`.
    package mutating func token(_ record: RecordBody, at now: UnixTime) {
        guard let token = try? PublishedToken(record, at: now), token.keyID.hasSameBytes(as: version),
            token.keyRing.map({ $0.hasSameBytes(as: ring) }) ?? true
        else { return }
        if let place = place(of: token.eventID) {
            fates[place] = .answered
        } else if let place = places[SubjectHash(token.subjectKey)], fates[place] != .answered {
            fates[place] = .superseded
        }
    }

    /// A dead letter. It counts as a rejection where its code blames the key, and the key may be the new version's: a report
    /// that does not show whose signature its token has is no reason to go on.
    ///
    /// - Parameter refused: the token of ours that it says was refused. Letters of older workers name none, and then only
    ///   `rejected_by_vendor` is known to blame the key.
    package mutating func letter(key: [UInt8]?, eventID: String?, code: ErrorCode?, refused: RefusedToken?) {
        if let place = eventID.flatMap({ place(of: $0) }) { settle(place, .deadLettered(code?.rawValue ?? "unknown")) }
        guard code == .rejectedByVendor || code == .notFixableByToken else { return }
        if let refused {
            guard refused.ring.hasSameBytes(as: ring), refused.keyID.map({ $0.hasSameBytes(as: version) }) ?? true
            else {
                return
            }
            if let place = places[SubjectHash(refused.subjectKey)] { rejected.insert(place) }
        } else if code == .rejectedByVendor, let place = key.flatMap({ places[SubjectHash($0)] }) {
            rejected.insert(place)
        }
    }

    /// A record of a retry tier.
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
            case .silent: counts[lag ?? 0 > 0 ? "not consumed by any worker" : "without an outcome", default: 0] += 1
            }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }

    /// A token is the end, however its event got there; of the others the latest counts.
    private mutating func settle(_ place: Int, _ fate: Fate) {
        if fates[place] != .answered, fates[place] != .superseded { fates[place] = fate }
    }

    private func count(_ isMeant: (Fate) -> Bool) -> Int { places.values.count { isMeant(fates[$0]) } }

    private func place(of eventID: String) -> Int? {
        guard eventID.hasPrefix(prefix), let row = Int(eventID.dropFirst(prefix.count)) else { return nil }
        let place = row - 1 - firstRow
        return fates.indices.contains(place) ? place : nil
    }
}
