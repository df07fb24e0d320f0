package import AdapterKit
import Foundation
@_spi(Signing) import JOSE
import Kafka
import Keyring
import Pipeline
package import WorkerConfiguration

/// Sends a job's events to the bulk lane, batch after batch. The checkpoint names the events before they are delivered.
/// An event that may have been delivered before a crash is marked when it is sent again.
package struct ReissueJob {
    let configuration: Configuration
    let app: Configuration.App?
    let files: ReissueFiles
    let pace: ReissuePace
    let total: Int?
    let display: any ProgressDisplay
    let now: @Sendable () -> UnixTime
    let lane: () throws -> any BulkLane
    /// Called before each batch, and each second of a rest; false stops the job there, to be continued later.
    let mayContinue: () throws -> Bool
    /// The number of rows in a first part of the job; nil for all of the input.
    let limit: Int?

    /// A job.
    ///
    /// - Parameters:
    ///   - app: the app of all rows; nil where each row names its own.
    ///   - total: the number of rows; nil where it is unknown.
    ///   - lane: opens the lane that the events go to.
    ///   - display: the display of the job's progress.
    package init(
        configuration: Configuration, app: Configuration.App?, files: ReissueFiles, pace: ReissuePace, total: Int?,
        lane: @escaping () throws -> any BulkLane, display: any ProgressDisplay,
        now: @escaping @Sendable () -> UnixTime,
        mayContinue: @escaping () throws -> Bool = { true },
        limit: Int? = nil
    ) {
        self.configuration = configuration
        self.app = app
        self.lane = lane
        self.files = files
        self.pace = pace
        self.total = total
        self.display = display
        self.now = now
        self.mayContinue = mayContinue
        self.limit = limit
    }

    /// A row of the input, valid or not.
    package struct Item {
        package let row: UserRow
        package let app: Configuration.App?

        /// `row`, for `app`; nil for the job's own.
        package init(row: UserRow, app: Configuration.App?) {
            self.row = row
            self.app = app
        }
    }

    /// The reason why the job stopped.
    package enum End: Equatable { case finished, paused, limitReached }

    /// - Parameter next: the input's next items; nil at its end.
    /// - Throws: `KafkaError` where an event could not be delivered; the checkpoint names the events that may have
    ///   been.
    package func run(_ progress: inout ReissueProgress, next: () throws -> [Item]?) async throws -> End {
        let lane = try lane()
        do {
            let end = try await send(&progress, lane, next)
            await lane.close(within: .seconds(10))
            return end
        } catch {
            await lane.close(within: .seconds(1))
            throw error
        }
    }

    private func send(
        _ progress: inout ReissueProgress, _ lane: any BulkLane, _ next: () throws -> [Item]?
    ) async throws -> End {
        let rejects = try files.openRejects(progress)
        var random = SystemRandomNumberGenerator()
        var display = ReissueDisplay(on: display, total: total)
        defer { display.clear() }
        var pending = ArraySlice<Item>()
        // The rows before the checkpoint's were sent; of the rows in doubt, those that the lane has.
        var toSkip = progress.rows
        let resent = progress.sendingRows
        let delivered = await delivered(progress, lane)
        while true {
            while pending.isEmpty {
                guard let items = try next() else {
                    progress.isFinished = true
                    try note(&progress, inDoubtThrough: resent)
                    return .finished
                }
                pending = items.dropFirst(toSkip)
                toSkip -= items.count - pending.count
            }
            if let limit, progress.rows >= limit {
                try note(&progress, inDoubtThrough: resent)
                return .limitReached
            }
            let goesOn = Result { try mayContinue() }
            guard case .success(true) = goesOn else {
                // The events that were delivered are in the checkpoint whatever the reason is.
                try note(&progress, inDoubtThrough: resent)
                _ = try goesOn.get()
                return .paused
            }
            let start = ContinuousClock.now
            let room = limit.map { $0 - progress.rows } ?? .max
            let items = pending.prefix(min(room, pace.batch(sent: progress.sent)))
            pending = pending.dropFirst(items.count)
            let count = try await send(
                Array(items), &progress, resentThrough: resent, but: delivered, lane, rejects)
            await display.show(progress, lane)
            let pause = pace.pause(after: count, sent: progress.sent, random: &random)
            guard count > 0, pause > 0 else { continue }
            // A crash during the pause sends nothing twice. Without a pause the next batch's checkpoint has the same
            // effect.
            try note(&progress, inDoubtThrough: resent)
            guard try await WatchedRest.until(start + .seconds(pause), while: mayContinue) else { return .paused }
        }
    }

    /// Returns the subject key of each event in doubt that the lane has, by the event's id. Where the lane cannot be
    /// read, all events in doubt are sent again.
    private func delivered(_ progress: ReissueProgress, _ lane: any BulkLane) async -> [String: [UInt8]] {
        guard let since = progress.sendingSince, !progress.inDoubt.isEmpty else { return [:] }
        let ids = Set(progress.inDoubt.map { progress.eventID(row: $0 + 1) })
        // The time is this machine's, and a record's may be the broker's.
        return (try? await lane.events(named: ids, since: ClockTolerance.standard.earliest(at: since))) ?? [:]
    }

    /// Writes a checkpoint with no event under way.
    ///
    /// - Parameter row: the last row that may have been delivered before a crash; it stays in doubt until it is sent again.
    private func note(_ progress: inout ReissueProgress, inDoubtThrough row: Int) throws {
        progress.sendingRows = max(progress.rows, row)
        try files.save(progress)
    }

    /// Returns the headers of a job's events: its campaign, and whether the event may have been sent before.
    private func headers(_ progress: ReissueProgress, isResent: Bool) -> [RecordHeader] {
        var headers: [RecordHeader] = []
        if let campaign = progress.campaign { headers.append(RecordHeader("remint-campaign", campaign)) }
        if isResent { headers.append(RecordHeader("remint-resent", "1")) }
        return headers
    }

    /// - Parameters:
    ///   - resentThrough: the last row that may have been delivered before.
    ///   - delivered: the subject key of each event that was delivered, by its id.
    /// - Returns: the number of delivered events.
    private func send(
        _ items: [Item], _ progress: inout ReissueProgress, resentThrough: Int, but delivered: [String: [UInt8]],
        _ lane: any BulkLane, _ rejects: FileHandle
    ) async throws -> Int {
        var records: [ProducerRecord] = []
        var present = 0
        var refused = Data()
        var next = progress
        let observedAt = now().description
        for item in items {
            next.rows += 1
            do throws(UserRow.BadRow) {
                let id = progress.eventID(row: next.rows)
                let event = try event(of: item, id: id, observedAt: observedAt)
                if delivered[id] == event.key {
                    present += 1
                    continue
                }
                records.append(
                    ProducerRecord(
                        topic: configuration.topics.invalidationsBulk, key: event.key, value: event.value,
                        headers: headers(progress, isResent: next.rows <= resentThrough)))
            } catch {
                next.rejected += 1
                refused += ReissueFiles.reject(line: item.row.line, error.reason)
            }
        }
        // The events in `progress` were delivered; those of this batch are under way.
        let time = now()
        progress.deliver(through: next.rows, at: time)
        try files.save(progress)
        next.deliver(through: progress.sendingRows, at: time)
        try await lane.deliver(records)
        if !refused.isEmpty {
            try files.append(refused, to: rejects)
            next.rejectsLength += refused.count
        }
        next.sent += records.count + present
        progress = next
        return records.count
    }

    private func event(of item: Item, id: String, observedAt: String) throws(UserRow.BadRow) -> ReissueEvent {
        guard let app = item.app ?? app else { throw UserRow.BadRow("its app is not configured") }
        return try ReissueEvent(
            user: try item.row.user.get(), app: app.name, adapter: app.adapter, id: id, observedAt: observedAt)
    }
}

/// The pace of a job: a rate, spread evenly but for a jitter, with rests between waves.
package struct ReissuePace: Sendable, Equatable {
    /// The allowed rates, in events a second: within them, no time and no number of events is too large to be counted.
    package static let rates = 0.001...1_000_000.0

    /// Events a second; nil for as fast as they can be delivered.
    package let rate: Double?
    /// The share by which the time from batch to batch varies, from 0 to 1, so that many jobs at once do not keep step.
    package let jitter: Double
    /// Events of a wave; nil for one wave.
    package let wave: Int?
    /// The rest between waves, in seconds.
    package let rest: Double

    /// - Parameters:
    ///   - rate: events a second, within `rates`; nil for as fast as they can be delivered.
    ///   - wave: events of a wave.
    package init(rate: Double?, jitter: Double = 0.2, wave: Int? = nil, rest: Double = 0) {
        self.rate = rate.map {
            $0.isNaN ? Self.rates.lowerBound : min(max($0, Self.rates.lowerBound), Self.rates.upperBound)
        }
        self.jitter = min(max(jitter, 0), 1)
        self.wave = wave
        self.rest = rest
    }

    /// Returns the number of events to send together: a tenth of a second's worth, at most 2,000, and no more than the
    /// wave has left.
    package func batch(sent: Int) -> Int {
        let size = rate.map { max(1, min(2000, Int($0 / 10))) } ?? 2000
        guard let wave, wave > 0 else { return size }
        return min(size, wave - sent % wave)
    }

    /// Returns the time from the beginning of a batch of `count` to the beginning of the next one, in seconds.
    package func pause(after count: Int, sent: Int, random: inout some RandomNumberGenerator) -> Double {
        let even = rate.map { Double(count) / $0 } ?? 0
        let pause = even * (1 + Double.random(in: -jitter...jitter, using: &random))
        guard let wave, wave > 0, sent % wave == 0 else { return pause }
        return pause + rest
    }
}

/// An event of the bulk lane that asks for a new token: `{"app":…,"reissue":{"user":…},"id":…,"observed_at":…}`.
package struct ReissueEvent: Sendable, Equatable {
    /// The record's key: the subject's, so that a user's events keep their order.
    package let key: [UInt8]
    package let value: [UInt8]

    /// - Parameters:
    ///   - user: a JSON string, or an object of ids by name.
    ///   - app: the app.
    ///   - adapter: the app's adapter, which decides whether it can be asked for this user.
    ///   - id: the event's id; the same row of the same job has the same id.
    ///   - time: the time of the request.
    /// - Throws: `UserRow.BadRow` where the adapter accepts no such user, and where the vendor's tokens need a member that the
    ///   edge must vouch for.
    package init(
        user: [UInt8], app: String, adapter: any Adapter, id: String, at time: UnixTime
    ) throws(UserRow.BadRow) {
        try self.init(user: user, app: app, adapter: adapter, id: id, observedAt: time.description)
    }

    /// The same for a time that is text already: a batch of events has one.
    init(
        user: [UInt8], app: String, adapter: any Adapter, id: String, observedAt: String
    ) throws(UserRow.BadRow) {
        key = try Self.key(of: user, app: app, adapter: adapter)
        // A batch job names users and vouches for nothing else.
        if let refusal = adapter.refusalOfMissingMembers(in: nil) {
            throw UserRow.BadRow("\(refusal.code.rawValue): \(refusal.detail)")
        }
        var json = JSONWriter(capacity: user.count + 160)
        json.beginObject()
        json.member("app", app)
        json.name("reissue")
        json.raw(Reissue.request(for: user))
        json.member("id", id)
        json.member("observed_at", observedAt)
        json.endObject()
        value = json.bytes
    }

    /// Returns the key of an event for `user`.
    ///
    /// - Throws: `UserRow.BadRow` where the adapter takes no such user.
    static func key(of user: [UInt8], app: String, adapter: any Adapter) throws(UserRow.BadRow) -> [UInt8] {
        guard let root = try? JSONDocument(parsing: user).root else { throw UserRow.BadRow("the user is not JSON") }
        do throws(Rejection) { return try adapter.user(reissuing: root).key(app: app) } catch {
            throw UserRow.BadRow("\(error.code.rawValue): \(error.detail)")
        }
    }
}

/// A rest of a job that an operator's step ends early.
enum WatchedRest {
    /// The time after which a pause, or a campaign that takes over, is noticed.
    private static let interval = Duration.seconds(1)

    /// Waits until `end`, and asks `mayContinue` each second.
    ///
    /// - Returns: false where `mayContinue` cut the wait short.
    /// - Throws: the error of `mayContinue`, or `CancellationError`.
    static func until(_ end: ContinuousClock.Instant, while mayContinue: () throws -> Bool) async throws -> Bool {
        while true {
            let left = end - ContinuousClock.now
            guard left > .zero else { return true }
            // In parts, so that a pause or an interrupt is seen soon.
            try await Task.sleep(for: min(left, interval))
            guard left > interval else { continue }
            guard try mayContinue() else { return false }
        }
    }
}

/// The rate of signing on this machine, measured: a third of a second with a key of the algorithm on every core.
package struct SigningEstimate {
    /// Signatures a second on all cores.
    package let perSecond: Double
    let cores: Int

    /// - Throws: `JOSEError` where no key can be made.
    package init(_ algorithm: Algorithm) async throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let key = try SigningKey.generate(algorithm)
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<cores { group.addTask { Self.count(key) } }
            return await group.reduce(0, +)
        }
        self.cores = cores
        perSecond = Double(counts) / Self.length
    }

    private static let length = 0.3

    private static func count(_ key: SigningKey) -> Int {
        guard let signer = try? Signer(key) else { return 0 }
        let input = [UInt8](repeating: 0x61, count: 200)
        let end = ContinuousClock.now + .seconds(length)
        var count = 0
        while .now < end {
            for _ in 0..<8 where (try? signer.sign(input)) != nil { count += 1 }
        }
        return count
    }
}

/// The job's line on the terminal: events sent, total, and the workers' lag.
struct ReissueDisplay {
    private let total: Int?
    private var line: any ProgressDisplay

    init(on line: any ProgressDisplay, total: Int?) {
        self.line = line
        self.total = total
    }

    mutating func show(_ progress: ReissueProgress, _ lane: any BulkLane) async {
        guard line.isShown else { return }
        let behind = await lane.lag
        var note = "\(progress.sent) sent"
        if let behind { note += ", \(behind) waiting, \(max(0, progress.sent - behind)) answered" }
        if progress.rejected > 0 { note += ", \(progress.rejected) rejected" }
        line.show(progress.rows, of: total ?? progress.rows, note)
    }

    mutating func clear() { line.clear() }
}
