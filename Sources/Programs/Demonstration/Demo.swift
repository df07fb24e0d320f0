package import AdapterKit
import Foundation
import JOSE
import Kafka
import Keyring
package import Logging
import Pickup
import Pipeline
import Preflight
import Vendors
import Wiring
import Worker
package import WorkerConfiguration

/// Every recorded report of every vendor through a real broker and a real worker, and each token to the vendor's verdict.
package struct Demo {
    package let workspace: DemoWorkspace
    /// The vendors that are asked; nil where nothing is.
    package var vendors: DemoVendors?
    /// Whether the reports come by a gateway, from devices, instead of by Kafka.
    package let hasGateway: Bool
    package let logger: Logger

    /// The source of the configuration's environment and files.
    private let source: ConfigurationSource
    private let now: @Sendable () -> UnixTime

    package init(
        workspace: DemoWorkspace, vendors: DemoVendors?, hasGateway: Bool = false, source: ConfigurationSource,
        logger: Logger,
        now: @escaping @Sendable () -> UnixTime
    ) {
        self.source = source
        self.now = now
        self.workspace = workspace
        self.vendors = vendors
        self.hasGateway = hasGateway
        self.logger = logger
    }

    /// - Throws: `DemoError`, `KafkaError` and a worker's errors.
    package func run() async throws -> [DemoResult] {
        let access = hasGateway ? try workspace.addGateway() : nil
        let preflight = Preflight(file: workspace.configurationFile.path, registry: .remint, source: source)
        guard let configuration = preflight.configuration, preflight.isReady else {
            throw DemoError(preflight.diagnostics.map(\.description).joined(separator: "\n"))
        }
        let ledger = DemoLedger()
        let worker = try WorkerService(
            preflight, logger: logger, signingLanes: ProcessInfo.processInfo.activeProcessorCount, now: now,
            observe: ledger.settled, isReady: { ledger.started(.success($0)) })
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do { try await worker.run() } catch {
                    ledger.started(.failure(error))
                    throw error
                }
            }
            let now = self.now()
            let events = DemoEvent.all(workspace.apps, at: now) + (vendors?.events(at: now) ?? [])
            if let access {
                return try await call(
                    events.map(\.called), access, configuration, brokers: try await ledger.address(),
                    preflight: preflight,
                    in: &group)
            }
            let outputs = try await exchange(events, configuration, try await ledger.address(), ledger)
            group.cancelAll()
            try await group.waitForAll()
            return events.map { result(of: $0, ledger.settlements, outputs, preflight) }
        }
    }

    /// Starts a gateway and lets the devices of all events call it.
    private func call(
        _ events: [DemoEvent], _ access: DemoAccess, _ configuration: Configuration, brokers: String,
        preflight: Preflight, in group: inout ThrowingTaskGroup<Void, any Error>
    ) async throws -> [DemoResult] {
        let (addresses, listens) = AsyncStream.makeStream(of: String.self)
        let gateway = try PickupService(
            configuration, brokers: brokers, logger: logger, now: now,
            isReady: { address in
                listens.yield(address)
                listens.finish()
            })
        group.addTask {
            defer { listens.finish() }
            try await gateway.run()
        }
        guard let address = await addresses.first(where: { _ in true }) else {
            throw DemoError("the gateway did not start")
        }
        let answers = try await DemoDevices(address: address, access: access, now: now).call(events)
        group.cancelAll()
        return events.map { event in
            guard let answer = answers[event.id] else {
                return DemoResult(event: event, outcome: .skipped(""), record: nil, verdict: nil, problem: "no answer")
            }
            let verdict = answer.body.flatMap { self.verdict(on: $0, event, preflight) }
            return DemoResult(
                event: event, outcome: answer.outcome, record: answer.body, verdict: verdict,
                problem: problem(event, answer.outcome, verdict))
        }
    }

    /// Sends the events and reads everything the worker publishes for them.
    private func exchange(
        _ events: [DemoEvent], _ configuration: Configuration, _ address: String, _ ledger: DemoLedger
    ) async throws -> DemoOutputs {
        let properties = KafkaProperties(configuration, bootstrapServers: address)
        let producer = try KafkaProducer(properties.producer, logger: logger)
        let consumer = try KafkaConsumer(
            properties.reader(group: "remint-demo-reader"), topics: configuration.outputTopics, logger: logger)
        return try await producer.whileOpen(closingWithin: .seconds(5)) { producer in
            try await consumer.whileOpen(closingWithin: .seconds(5)) { consumer in
                try await exchange(events, configuration, ledger, producer, consumer)
            }
        }
    }

    private func exchange(
        _ events: [DemoEvent], _ configuration: Configuration, _ ledger: DemoLedger, _ producer: KafkaProducer,
        _ consumer: KafkaConsumer
    ) async throws -> DemoOutputs {
        let now = self.now()
        let errors = await producer.deliver(
            events.map { $0.record(topic: configuration.topics.invalidations, at: now) })
        if let error = errors.compactMap({ $0 }).first { throw error }
        var outputs = DemoOutputs(topics: configuration.topics, now: self.now)
        var finished = 0, last = ContinuousClock.now
        while !isComplete(outputs, ledger.settlements, events.count) {
            try Task.checkCancellation()
            if ledger.settlements.count + outputs.count > finished {
                finished = ledger.settlements.count + outputs.count
                last = .now
            }
            guard .now - last < .seconds(60) else { throw DemoError("for a minute, no event was finished") }
            for event in await consumer.events(limit: 500, within: .milliseconds(50)) {
                switch event {
                case .record(let record): outputs.add(record)
                case .rebalance(let rebalance): try await consumer.answer(rebalance)
                case .error(let error): if error.isFatal { throw error }
                case .endOfPartition: break
                }
            }
        }
        return outputs
    }

    private func isComplete(_ outputs: DemoOutputs, _ settlements: [Settlement], _ expected: Int) -> Bool {
        let published = settlements.count { $0.output != nil }
        return settlements.count >= expected && outputs.count >= published
    }

    // MARK: Results

    private func result(
        of event: DemoEvent, _ settlements: [Settlement], _ outputs: DemoOutputs, _ preflight: Preflight
    ) -> DemoResult {
        // A record that could not be decoded has no id; it is known by its bytes.
        let matching = settlements.first { settlement in
            if let id = settlement.eventID { return id == event.id }
            return outputs.deadLetter(at: settlement.origin) == event.report
        }
        guard let settlement = matching else {
            return DemoResult(event: event, outcome: .skipped(""), record: nil, verdict: nil, problem: "no outcome")
        }
        let record = outputs.token(event.id)
        let answer = record.flatMap { verdict(on: $0, event, preflight) }
        return DemoResult(
            event: event, outcome: settlement.outcome, record: record, verdict: answer,
            problem: problem(event, settlement.outcome, answer))
    }

    /// Returns the verdict of the adapter's verifier on the token, with the keys of the ring, as the vendor would have
    /// them.
    private func verdict(on record: JSONValue, _ event: DemoEvent, _ preflight: Preflight) -> VendorVerdict? {
        guard let app = preflight.configuration?.apps.first(where: { $0.name == event.app.name }),
            let ring = preflight.rings[app.key], let token = record["token"]?.string
        else { return nil }
        let bytes = Array(token.utf8)
        guard let claims = TokenInspection(bytes).claims,
            let subject = app.adapter.tokensNameUser ? app.adapter.subject(named: claims) : Subject(user: "anybody")
        else { return nil }
        return app.adapter.verify(bytes, against: ring.verificationKeys, expecting: subject, at: now())
    }

    private func problem(_ event: DemoEvent, _ outcome: Outcome, _ verdict: VendorVerdict?) -> String? {
        let found: String
        switch outcome {
        case .deadLettered(let code): found = code.rawValue
        case .minted, .superseded, .skipped, .deferred: found = outcome.name
        }
        if let ending = event.ending, found != ending { return "expected \(ending)" }
        if outcome == .minted, verdict != .accepted { return "the vendor refuses the token" }
        return nil
    }
}
