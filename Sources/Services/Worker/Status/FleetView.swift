import AdapterKit
import Kafka
import Keyring
import Logging
package import Operations
import Pipeline
import Synchronization
import WorkerConfiguration

/// The fleet's status for viewers of the page: asked of the brokers while somebody looks, and at most once in ten seconds, however
/// many look. No session waits for it.
actor FleetView {
    /// The fleet at brokers, and the end of the clients that ask them.
    struct Source: Sendable {
        var read: @Sendable () async throws(KafkaError) -> FleetStatus
        var close: @Sendable () async -> Void
    }

    enum Answer: Sendable, Equatable {
        case known([UInt8])
        case unknown(String)
    }

    /// The time for which an answer is given again, an error too.
    static let freshness = Duration.seconds(10)
    /// The time without viewers after which the clients are closed.
    static let idle = Duration.seconds(60)

    private let open: @Sendable () throws(KafkaError) -> Source?
    private let number: @Sendable () -> Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let asked: AsyncStream<Void>
    private let ask: AsyncStream<Void>.Continuation
    private var source: (number: Int, source: Source)?
    private var last: (at: ContinuousClock.Instant, answer: Answer)?
    private var lastAsked: ContinuousClock.Instant
    private var viewers: [CheckedContinuation<Answer, Never>] = []
    private var isOver = false

    /// - Parameters:
    ///   - open: Makes the clients; nil while the brokers' address is unknown.
    ///   - number: The number of the configuration in effect. New clients are made when it changes.
    ///   - clock: The clock of freshness.
    init(
        open: @escaping @Sendable () throws(KafkaError) -> Source?, number: @escaping @Sendable () -> Int = { 0 },
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.open = open
        self.number = number
        self.clock = clock
        (asked, ask) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        lastAsked = clock()
    }

    /// Returns the fleet's status, at most ten seconds old.
    func answer() async -> Answer {
        lastAsked = clock()
        if isOver { return .unknown("the worker stops") }
        if let last, clock() - last.at < Self.freshness { return last.answer }
        return await withCheckedContinuation { viewer in
            viewers.append(viewer)
            ask.yield()
        }
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.closeWhenIdle() }
            // A viewer who came during a reading has its answer, and needs no other.
            for await _ in asked where !viewers.isEmpty {
                let answer = await read()
                last = (clock(), answer)
                resume(answer)
            }
            group.cancelAll()
        }
        isOver = true
        resume(.unknown("the worker stops"))
        await closeSource()
    }

    /// Closes the clients if nobody has looked for a minute.
    func closeIfIdle() async {
        guard viewers.isEmpty, clock() - lastAsked >= Self.idle else { return }
        await closeSource()
    }

    private func closeWhenIdle() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.idle)
            await closeIfIdle()
        }
    }

    private func read() async -> Answer {
        do throws(KafkaError) {
            let present = number()
            if let source, source.number != present { await closeSource() }
            if source == nil, let opened = try open() { source = (present, opened) }
            guard let source else { return .unknown("the worker has not reached its brokers yet") }
            return .known(try await source.source.read().json(mostApps: StatusReport.mostApps))
        } catch { return .unknown("\(error)") }
    }

    private func resume(_ answer: Answer) {
        let waiting = viewers
        viewers = []
        for viewer in waiting { viewer.resume(returning: answer) }
    }

    private func closeSource() async {
        guard let closing = source else { return }
        source = nil
        await closing.source.close()
    }
}

extension FleetView {
    /// The most dead letters that a worker reads to count them.
    private static let mostLetters = 20_000

    /// A view of the fleet with the configuration in effect, through clients that log nothing.
    ///
    /// - Parameter brokers: the brokers' address; nil until it is known.
    init(
        _ configuration: @escaping @Sendable () -> (configuration: Configuration, number: Int),
        brokers: @escaping @Sendable () -> String?, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        var quiet = logger
        quiet.logLevel = .critical
        self.init(
            open: { [quiet] () throws(KafkaError) -> Source? in
                guard let brokers = brokers() else { return nil }
                let reader = try FleetReader(
                    configuration().configuration, brokers: brokers, mostLetters: Self.mostLetters, logger: quiet,
                    commitTime: CommitMetadata.time, now: now)
                return Source(
                    read: { () async throws(KafkaError) -> FleetStatus in try await reader.read() },
                    close: { await reader.close() })
            }, number: { configuration().number })
    }
}

extension FleetStatus {
    /// The version of the shape. Members may be added to it; one that is taken away or comes to mean something else makes it the next.
    private static let shape: Int64 = 1

    /// Returns the status as `remint status --json` prints it and `/fleet` answers it.
    ///
    /// - Parameter mostApps: the most apps in it; those whose events wait come first.
    package func json(mostApps: Int = .max) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("shape", Self.shape)
        json.member("at", at.description)
        json.member("group", group)
        json.array("lanes", lanes) { lane, json in lane.write(isStalled: isStalled(lane), to: &json) }
        json.object("dead_letters") { json in deadLetters.write(to: &json) }
        if let parkedLetters { json.object("parked_letters") { json in parkedLetters.write(to: &json) } }
        json.array("workers", workers) { worker, json in
            if !worker.name.isEmpty { json.member("name", worker.name) }
            json.member("client_id", worker.clientID)
            json.member("host", worker.host)
            json.member("workers", Int64(worker.count))
            if let committed = worker.committed { json.member("last_commit", committed.description) }
            json.object("partitions") { json in
                for (lane, count) in zip(lanes, worker.partitions) { json.member(lane.lane.rawValue, Int64(count)) }
            }
        }
        let isWhole = apps.count <= mostApps
        let shown =
            isWhole
            ? apps
            : Array((apps.filter { $0.suspension != nil } + apps.filter { $0.suspension == nil }).prefix(mostApps))
        json.member("apps_left_out", Int64(apps.count - shown.count))
        json.array("apps", shown) { app, json in
            let status = WorkerStatus.AppStatus(
                name: app.name, adapter: app.adapter, keyRing: app.keyRing, keyVersion: nil, suspension: app.suspension)
            status.write(to: &json)
        }
        rings.write(to: &json, at: at)
        verdict.write(to: &json)
        json.name("problems")
        json.beginArray()
        for topic in missing { json.string("the topic \(topic) does not exist or may not be seen") }
        for problem in keyProblems + problems { json.string(problem) }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}

extension FleetStatus.LaneState {
    fileprivate func write(isStalled: Bool, to json: inout JSONWriter) {
        json.member("lane", lane.rawValue)
        json.member("group", group)
        json.member("state", pause != nil ? "paused" : isStalled ? "stalled" : "active")
        if let pause { json.object("paused") { json in pause.write(to: &json) } }
        if let lag { json.member("lag", lag) }
        if let oldest { json.member("oldest", oldest.description) }
        if let committed { json.member("last_commit", committed.description) }
        json.array("topics", topics) { topic, json in topic.write(to: &json) }
        guard let members else { return }
        json.member("group_state", members.state)
        json.array("members", members.members) { member, json in
            json.member("id", member.id)
            json.member("client_id", member.clientID)
            json.member("host", member.host)
            json.member("partitions", Int64(member.partitions.count))
        }
    }
}

extension FleetStatus.Topic {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("topic", name)
        json.member("partitions", Int64(partitions))
        if let waiting { json.member("waiting", waiting) }
        if isUpperBound {
            json.name("waiting_is_upper_bound")
            json.bool(true)
        }
    }
}
