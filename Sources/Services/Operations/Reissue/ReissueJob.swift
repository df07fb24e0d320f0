package import AdapterKit
import Foundation
import Kafka
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
