import AdapterKit
import Kafka
import Operations
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
        /// The reason why the status is unknown.
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

    /// Asks the brokers for viewers until the task is canceled.
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
