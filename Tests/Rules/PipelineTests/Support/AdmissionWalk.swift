import AdapterKit
import Pipeline
import Synchronization
import Testing

/// A signing port that has every key and makes no signature twice.
final class CountingSigning: SigningPort {
    private struct State {
        var count: UInt64 = 0
        var version = 1
        var isFailing = false
    }

    private let state = Mutex(State())

    /// The active version of every ring.
    var version: Int {
        get { state.withLock { $0.version } }
        set { state.withLock { $0.version = newValue } }
    }

    /// Whether every signature fails.
    var isFailing: Bool {
        get { state.withLock { $0.isFailing } }
        set { state.withLock { $0.isFailing = newValue } }
    }

    func activeKey(of ring: String) -> SigningKeyReference? {
        let algorithm = ["shop-braze": Algorithm.rs256, "shop-push": .hs256][ring] ?? .hs512
        return SigningKeyReference(
            ring: ring, version: "v\(version)", keyID: "k", algorithm: algorithm, retireAfter: nil)
    }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        requests.map { _ in
            state.withLock { state in
                state.count += 1
                if state.isFailing { return .failure(Rejection(.mintFailed, "the HSM refused")) }
                return .success(withUnsafeBytes(of: state.count.bigEndian) { Array($0) })
            }
        }
    }
}

/// A walk of reports, batches, confirmations and aborts through a `BatchProcessor`, beside a ledger kept by hand.
struct AdmissionWalk {
    /// A token that was minted and not taken back.
    struct Minted {
        let text: String
        let key: Int
        /// The number of suspensions that were over before it.
        let era: Int
        let batch: Int
        /// Whether it was minted for a user who refuses everything.
        let isRefused: Bool
        /// Whether it was minted while all events of the app waited.
        let isProbe: Bool
        let at: UnixTime
    }

    /// An event on its way, the same whenever it comes again.
    struct Report {
        let record: InputRecord
        let user: String
        let refuses: Bool
    }

    enum Met: Hashable { case ends(String), rolledBack, suspended }

    let signing = CountingSigning()
    let clock = ManualClock(TestBench.now)
    var random: SeededGenerator
    var processor: BatchProcessor
    /// By user, the latest last.
    var tokens: [String: [Minted]] = [:]
    var versions: [String: Int64] = [:]
    var queue: [Report] = []
    var unconfirmed: [(number: Int, reports: [Report])] = []
    var ended: [Int64: Int] = [:]
    var met: [Met: Int] = [:]
    var era = 0
    /// Whether what is minted in this batch probes a suspended app.
    private var isProbing = false
    private var nextOffset: Int64 = 0
    private var nextBatch = 1

    init(seed: Int) throws {
        random = SeededGenerator(seed: UInt64(seed))
        let clock = clock
        processor = BatchProcessor(
            apps: try TestBench().apps, signing: signing, maximumEventBytes: 1 << 16,
            admission: AdmissionRules(
                subjects: 64, usersToSuspend: 3, shareToSuspend: 0.3, minimumAge: .seconds(1)),
            random: SeededGenerator(seed: 9),
            now: { clock.now })
    }

    mutating func step() async throws(WalkFailure) {
        clock.now = clock.now.advanced(byMicroseconds: .random(in: 0...900_000, using: &random))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: report()
        case 40..<75: try await process(.random(in: 1...5, using: &random))
        case 75..<88: confirm()
        case 88..<95: rollBack()
        case 95: if Int.random(in: 0..<6, using: &random) == 0 { signing.version += 1 }
        case 96: signing.isFailing = Int.random(in: 0..<4, using: &random) == 0
        case 97: clock.now = clock.now.advanced(bySeconds: .random(in: 0...90, using: &random))
        default: resume()
        }
    }

    mutating func drain() async throws(WalkFailure) {
        while !queue.isEmpty { try await process(5) }
        confirm(all: true)
    }

    // MARK: What happens

    /// One of a few users reports that something is wrong; a `refuser` reports it of every token that it got.
    private mutating func report() {
        let number = Int.random(in: 0..<10, using: &random)
        let refuses = number < 4
        let user = refuses ? "refuser-\(number)" : "user-\(number)"
        let known = tokens[user] ?? []
        let token =
            refuses ? known.last?.text : Bool.random(using: &random) ? known.randomElement(using: &random)?.text : "e30"
        let device = RecordHeader("remint-device", "d\(Int.random(in: 0..<2, using: &random))")
        let code = refuses || Bool.random(using: &random) ? 20 : 22
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let record = InputRecord.sample(
                SampleReport.braze(user: user, code: code, token: token ?? "e30"),
                headers: [RecordHeader("remint-app", "shop-ios"), device], offset: nextOffset, timestamp: clock.now)
            queue.append(Report(record: record, user: user, refuses: refuses))
            nextOffset += 1
        }
    }

    private mutating func resume() {
        guard !processor.suspensions.isEmpty else { return }
        processor.hold(nil, of: "shop-ios")
    }

    private mutating func confirm(all: Bool = false) {
        guard !unconfirmed.isEmpty else { return }
        let count = all ? unconfirmed.count : .random(in: 1...unconfirmed.count, using: &random)
        processor.confirm(throughBatch: unconfirmed[count - 1].number)
        for report in unconfirmed.prefix(count).flatMap(\.reports) {
            ended[report.record.origin.offset, default: 0] += 1
        }
        unconfirmed.removeFirst(count)
    }

    /// The transaction is aborted: the events come again, in their order.
    private mutating func rollBack() {
        guard let first = unconfirmed.first?.number else { return }
        processor.rollBack()
        queue = unconfirmed.flatMap(\.reports) + queue
        unconfirmed = []
        tokens = tokens.mapValues { $0.filter { $0.batch < first } }
        met[.rolledBack, default: 0] += 1
    }

    // MARK: What must hold

    private mutating func process(_ count: Int) async throws(WalkFailure) {
        let reports = Array(queue.prefix(count))
        queue.removeFirst(reports.count)
        let number = nextBatch
        nextBatch += 1
        let hadSuspension = processor.suspensions.first
        let settlements = await processor.process(reports.map(\.record), batch: number)
        let isResumed = processor.takeAlarms().contains { if case .resumed = $0 { true } else { false } }
        if isResumed { era += 1 }
        // Of a suspended app only probes are answered.
        isProbing = hadSuspension != nil && !isResumed
        let states = [hadSuspension, processor.suspensions.first]
        let isHeldWhole = isProbing && states.allSatisfy { $0?.reach == .everyone }
        guard settlements.map(\.origin) == reports.map(\.record.origin) else { throw WalkFailure("ends got mixed up") }
        for (report, settlement) in zip(reports, settlements) where settlement.outcome == .minted {
            try remember(settlement, report, number, isProbe: isHeldWhole)
        }
        for (report, settlement) in zip(reports, settlements) {
            met[.ends(settlement.outcome.name), default: 0] += 1
            try check(settlement, report)
        }
        unconfirmed.append((number, reports))
    }

    private mutating func remember(
        _ settlement: Settlement, _ report: Report, _ number: Int, isProbe: Bool
    ) throws(WalkFailure) {
        guard let output = settlement.output, let text = try? output.json["token"]?.string,
            let version = try? output.json["version"]?.integer
        else { throw WalkFailure("no token") }
        guard version > versions[report.user] ?? 0 else { throw WalkFailure("\(report.user)'s version goes back") }
        versions[report.user] = version
        if isProbe, let last = tokens[report.user]?.last, last.isProbe, last.key == signing.version, last.era == era {
            guard clock.now.microseconds(since: last.at) >= 60_000_000 else {
                throw WalkFailure("\(report.user) tests the key of a suspended app twice at once")
            }
        }
        tokens[report.user, default: []].append(
            Minted(
                text: text, key: signing.version, era: era, batch: number, isRefused: report.refuses, isProbe: isProbe,
                at: clock.now))
        let same = tokens[report.user, default: []].filter { $0.key == signing.version && $0.era == era }
        // A user who always names what it has got is granted one token for each key and suspension, and probes.
        guard !report.refuses || same.count == 1 || isProbing else {
            throw WalkFailure("\(report.user) refuses its token and gets \(same.count)")
        }
    }

    private mutating func check(_ settlement: Settlement, _ report: Report) throws(WalkFailure) {
        let last = tokens[report.user]?.last
        let isAnswered = last.map { $0.key == signing.version && $0.era == era } ?? false
        switch settlement.outcome {
        case .minted: break
        case .superseded:
            guard isAnswered else { throw WalkFailure("\(report.user) is superseded by nothing") }
        case .deferred(_, .failed(let code)):
            guard code == .mintFailed, signing.isFailing else { throw WalkFailure("deferred for \(code)") }
        case .deferred(_, .appSuspended):
            guard !processor.suspensions.isEmpty else { throw WalkFailure("it waits for no suspension") }
            met[.suspended, default: 0] += 1
        case .deadLettered(let code):
            guard code == .rejectedByVendor, isAnswered else { throw WalkFailure("\(report.user) ends as \(code)") }
        case .deferred(_, .awaitingLookup): throw WalkFailure("nobody is asked about \(report.user)")
        case .skipped: throw WalkFailure("nothing to do for \(report.user)")
        }
    }

    /// Whether every report has one outcome.
    var isComplete: Bool { ended.count == Int(nextOffset) && ended.values.allSatisfy { $0 == 1 } }
}
