import AdapterKit
import Kafka
import Keyring
import Pipeline

@testable import Operations

/// A cluster with its workers in memory: the newest token of each user, and what came of events.
final class ModelCluster: CampaignTopics {
    /// The workers' and the vendor's answer to events.
    enum Mood: CaseIterable {
        /// Each event becomes a token.
        case answers
        /// The vendor refuses each of them.
        case refuses
        /// The vendor does not know the key, which no token repairs.
        case doesNotKnowTheKey
        /// No worker consumes the events.
        case silent
        /// The events wait in a retry tier.
        case defers
        /// The events are dead letters.
        case deadLetters
        /// A part of the records is delivered, and the brokers fail.
        case fails
    }

    enum Outcome {
        case token(RecordBody)
        case letter([UInt8], eventID: String, ErrorCode, RefusedToken?)
        case retry(String)
        case report(DeviceReport)
        /// A record that compaction removed.
        case removed
    }

    /// The brokers failed.
    struct Down: Error {}

    static let ring = LedgerRing("push", among: ["push"], apps: ["push": "push"], versions: [:])

    var mood = Mood.answers
    /// The apps whose tokens the vendor refuses whatever the mood is.
    var refusing: Set<String> = []
    /// Users whose devices report nothing.
    var dormant: Set<[UInt8]> = []
    /// Users that the vendor does not know any more.
    var gone: Set<[UInt8]> = []
    /// The topics that lost reports.
    var lost: [String] = []
    /// Called once when a watch has begun.
    var whenWatched: () -> Void = {}
    /// Users whose devices ask for another token in words that name none.
    var asking: Set<[UInt8]> = []
    /// The apps and lanes that are held.
    var held = ControlHolds()
    /// Those that were held since a watch began, and are not any more.
    var wereHeld = ControlHolds()
    /// Events of the live lane that no worker has read.
    var unread = 0
    /// Users whose events a worker takes for those of a burst.
    var inBurst: Set<[UInt8]> = []
    /// The ring and the version that signs for an app that has a ring of its own.
    var homes: [String: (ring: String, version: String)] = [:]
    /// Called once when the ledger was read for a list.
    var afterList: () -> Void = {}
    /// Called at each question: another operator may come in between.
    var between: () async -> Void = {}
    /// The campaign on disk; nil where none is open or it is paused.
    var campaign: () -> String? = { nil }
    /// The version that signs; nil where there is none.
    var signer: () -> String? = { nil }
    /// The offsets that an open transaction hides of the tokens at a question.
    var hidden: () -> HiddenOffsets? = { nil }
    /// The configured apps.
    var apps: Set<String> = ["push", "shop", "moved"]
    /// The users whose tokens are among these offsets.
    var hiddenUsers: Set<[UInt8]> = []
    /// Topics of events that brokers do not show.
    var unseen: [String] = []
    private(set) var violation: String?
    private(set) var outcomes: [Outcome] = []
    private(set) var events = 0
    private var tokens: [[UInt8]: (record: RecordBody, version: String, issued: Int64, end: Int64)] = [:]
    private var delivered: [String: [UInt8]] = [:]
    private var count: Int64 = 0
    private let now: @Sendable () -> UnixTime

    init(now: @escaping @Sendable () -> UnixTime) { self.now = now }

    // MARK: Users

    /// Gives `user` a token of `version`, which was issued `age` seconds ago.
    func issue(
        _ user: [UInt8], _ version: String, eventID: String, age: Int64 = 0, life: Int64 = 10_800,
        ring: String = "push", isReported: Bool = false
    ) {
        let issued = now().seconds - age
        count += 1
        let app = Self.app(user)
        let name = String(decoding: user, as: UTF8.self).dropFirst("\(app)/registered=".count)
        let value = """
            {"app":"\(app)","vendor":"bloomreach","subject":{"registered":"\(name)"},"token":"e.e.e","algorithm":"HS256",\
            "key_id":"\(version)","issued_at":\(issued),"expires_at":\(issued + life),"version":\(count),\
            "event_id":"\(eventID)"}
            """
        let headers =
            [
                RecordHeader("ce_type", "remint.token.replaced.v1"), RecordHeader("ce_id", eventID),
                RecordHeader("ce_source", "/remint/\(app)"), RecordHeader("remint-key-id", version),
                RecordHeader("remint-expires-at", "\(issued + life)"), RecordHeader("remint-version", "\(count)"),
                RecordHeader("remint-key-ring", ring),
            ] + (isReported ? [RecordHeader("remint-reported-at", "\(issued * 1000)")] : [])
        let record = RecordBody(key: user, value: Array(value.utf8), headers: headers)
        tokens[user] = (record, version, issued, issued + life)
        outcomes.append(.token(record))
    }

    /// Removes the tokens of users who have a newer one.
    func compact() {
        var seen: Set<[UInt8]> = []
        for place in outcomes.indices.reversed() {
            guard case .token(let record) = outcomes[place], let key = record.key else { continue }
            if !seen.insert(key).inserted { outcomes[place] = .removed }
        }
    }

    /// A device of `user` reports a failure by a clock that shows `time`, and a worker publishes nothing.
    func report(_ user: [UInt8], at time: UnixTime?) {
        outcomes.append(.report(DeviceReport(subjectKey: user, eventID: "report", producedAt: time)))
    }

    private static func app(_ user: [UInt8]) -> String {
        String(decoding: user.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }

    /// The users whose newest token is one of `version`.
    func holders(of version: String) -> Set<[UInt8]> { Set(tokens.filter { $0.value.version == version }.keys) }

    /// Users whose newest token is a live one of `version`.
    func live(_ version: String) -> Int {
        let time = now().seconds
        return tokens.values.count { $0.version == version && $0.end > time }
    }

    // MARK: Topics

    func holders(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (holders: [LedgerHolder], hidden: HiddenOffsets?) {
        await between()
        defer {
            afterList()
            afterList = {}
        }
        let found = tokens.filter { user, token in
            token.end > now.seconds && !hiddenUsers.contains(user)
                && filter.matches(
                    LedgerLabel(app: "push", keyID: token.version, ring: "push"), expiresAt: token.end)
        }.sorted {
            $0.value.end == $1.value.end
                ? $0.key.lexicographicallyPrecedes($1.key) : $0.value.end < $1.value.end
        }.map { LedgerHolder(key: $0.key, issuedAt: $0.value.issued, expiresAt: $0.value.end) }
        return (found, hidden())
    }

    func holdings(of versions: [String], in ring: RingInUse, at now: UnixTime) async throws -> CampaignHoldings {
        await between()
        var table = LedgerTable(.all, subjects: tokens.count)
        let shown = tokens.filter { !hiddenUsers.contains($0.key) }.values
        for (offset, token) in shown.enumerated() { table.take(token.record, offset: Int64(offset), at: now) }
        var found = LedgerHoldings()
        found.add(table, matching: LedgerFilter(versions: versions, of: Self.ring), at: now)
        found.hidden = hidden()
        let all = versions.map { VersionHoldings(found, version: $0, of: Self.ring, apps: apps) }
        let holdings = CampaignHoldings(all[0], Array(all.dropFirst()))
        if holdings.first.unreadable + holdings.first.strangers > 0 { violation = "the model's tokens cannot be read" }
        return holdings
    }

    func ends() async throws -> TopicMarks {
        await between()
        return TopicMarks(["outcomes": [Int64(outcomes.count)]])
    }

    func lane() throws -> any BulkLane { ModelLane(cluster: self) }

    func outcomes(
        _ tally: CanaryTally, from marks: TopicMarks, now: @escaping @Sendable () -> UnixTime
    ) throws -> any CanaryOutcomes {
        ModelOutcomes(
            cluster: self, start: Int(marks.ends["outcomes"]?.first ?? 0), fresh: tally, now: now, tally: tally)
    }

    func fates(of rotation: Rotation, at now: UnixTime) async throws -> EventFates {
        await between()
        var fates = EventFates(prefix: "\(rotation.id).")
        for outcome in outcomes {
            switch outcome {
            case .letter(_, let id, let code, _): fates.add(id, deadLetteredWith: code)
            case .retry(let id): fates.add(id, "deferred (key_unavailable)")
            case .token, .report, .removed: break
            }
        }
        return fates
    }

    func holds(at now: UnixTime, since marks: TopicMarks?) async throws -> ControlHolds {
        marks == nil ? held : held.adding(wereHeld)
    }

    func controlEnds() async throws -> TopicMarks {
        await between()
        whenWatched()
        whenWatched = {}
        return TopicMarks(["control": [0]])
    }

    func events() async throws -> EventsBefore { EventsBefore(marks: try await ends(), unseen: unseen) }

    func liveEvents() async throws -> EventsBefore { EventsBefore(marks: TopicMarks(["live": []]), unseen: unseen) }

    func unanswered(_ events: EventsBefore) async throws -> Int {
        mood == .silent ? 1 : events.marks.ends["live"] == nil ? 0 : unread
    }

    var lag: Int? { get async { mood == .silent ? 1 : 0 } }

    func close() async {}

    // MARK: Events

    func deliver(_ records: [ProducerRecord]) async throws {
        let open = campaign()
        for (place, record) in records.enumerated() {
            if mood == .fails, place * 2 >= records.count { break }
            guard let user = record.key, let value = record.value,
                let id = (try? JSONDocument(parsing: value).root)?["id"]?.string
            else {
                violation = "an event without a user or an id"
                continue
            }
            if let named = record.body.text("remint-campaign"), named != open {
                violation = "an event of the campaign \(named) was sent while \(open ?? "none") goes on"
            }
            if let first = delivered.updateValue(user, forKey: id) {
                if first != user { violation = "two users have the event id \(id)" }
                if record.body.text("remint-resent") == nil {
                    violation = "the event \(id) was sent twice and is not marked as resent"
                }
            }
            events += 1
            answer(user, id)
        }
        if mood == .fails { throw Down() }
        await between()
    }

    /// Those of the events `ids` that were delivered; unknown while the lane fails.
    func events(named ids: Set<String>) async throws -> [String: [UInt8]] {
        await between()
        if mood == .fails { throw Down() }
        return delivered.filter { ids.contains($0.key) }
    }

    private func answer(_ user: [UInt8], _ id: String) {
        switch mood {
        case .silent: return
        case .defers: outcomes.append(.retry(id))
        case .deadLetters: outcomes.append(.letter(user, eventID: id, .mintFailed, nil))
        case .answers where gone.contains(user): outcomes.append(.letter(user, eventID: id, .userGone, nil))
        case .answers, .refuses, .doesNotKnowTheKey, .fails:
            let home = homes[Self.app(user)]
            guard let version = home?.version ?? signer() else { return outcomes.append(.retry(id)) }
            guard !inBurst.contains(user) else { return }
            let ring = home?.ring ?? "push"
            issue(user, version, eventID: id, ring: ring)
            if asking.contains(user) { issue(user, version, eventID: "device-\(id)", ring: ring, isReported: true) }
            let isRefused = mood == .refuses || mood == .doesNotKnowTheKey || refusing.contains(Self.app(user))
            guard isRefused, !dormant.contains(user) else { return }
            refuse(user, version, ring: ring)
        }
    }

    /// A device of `user` reports that the vendor refuses its token of `version`.
    func refuse(_ user: [UInt8], _ version: String, ring: String = "push") {
        let code: ErrorCode = mood == .doesNotKnowTheKey ? .notFixableByToken : .rejectedByVendor
        let refused = RefusedToken(
            RecordBody(
                key: nil, value: nil,
                headers: [
                    RecordHeader("remint-refused-key-id", version), RecordHeader("remint-refused-key-ring", ring),
                    RecordHeader("remint-refused-subject", user),
                ]))
        outcomes.append(.letter(user, eventID: "device", code, refused))
    }
}
