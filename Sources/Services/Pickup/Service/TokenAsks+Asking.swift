import AdapterKit
import Kafka
import Synchronization

/// Asking a worker.
extension TokenAsks {
    /// Asks a worker, unless the same ask is under way.
    ///
    /// If this gateway knows no token of the subject, there may still be one: published before the gateway began to
    /// follow, or forgotten. The event states so, a worker answers it with a newer token, and no older token
    /// counts as an answer. A token below `floor`, the version that the caller has, counts as unknown: this gateway lags,
    /// or follows another topic than the gateway that handed out that version. A worker that knows the version mints
    /// nothing.
    func ask(
        _ record: ProducerRecord, id: String, _ key: [UInt8], challenge: String?, _ asker: Asker, _ app: PickupApp,
        _ report: [UInt8]? = nil, life: Int64? = nil, notBelow floor: Int64 = 0, within wait: Duration
    ) async throws(Problem) -> Outcome {
        if let problem = unreachable { throw problem }
        let newest = store.newest(key)
        let known = newest.flatMap { $0.version >= floor ? $0 : nil }
        let isCold = known == nil && challenge == nil
        // Of the devices of a user without a known token, one asks.
        let device = isCold && report == nil ? "" : asker.device ?? ""
        let name = key + [0] + Array(device.utf8)
        let version = max(newest?.version ?? 0, floor - 1)
        let time = now()
        if var known, known.isLive(at: time), report.map({ !known.isNamed(in: $0) }) ?? true,
            store.asks.withLock({ $0.answered(name, event: id, version: version, at: time) })
        {
            known.challenge = challenge
            return .token(known)
        }
        let unseen =
            isCold ? max(newest == nil ? store.unseen(of: key) : 0, min(floor, time.microseconds) - 1, 0) : 0
        let fresh = AsksUnderWay.Ask(event: id, after: max(version, unseen), sentAt: time)
        // Looked up and noted together: of two asks at the same time one is sent.
        let current = store.asks.withLock { asks in
            let current = asks.current(name, version: newest?.version ?? 0, unseen: unseen, at: time)
            if current == nil { asks.sent(fresh, as: name) }
            return current
        }
        let ask = current ?? fresh
        let until = ContinuousClock.now + wait
        if current == nil { try send(OutgoingAsk(record: record, name: name, ask: ask), unseen, isCold, within: wait) }
        guard wait > .zero else {
            // A caller that does not wait learns whether the brokers accepted the event, which takes a round trip.
            try await requireTaken(ask.delivery, within: Self.leastWait)
            return .accepted(event: ask.event, after: max(ask.after, floor - 1), challenge: challenge)
        }
        let awaited = AwaitedEvent(
            id: ask.event, key: record.key ?? [], app: app.name, topic: record.topic, delivery: ask.delivery,
            place: ask.place)
        if let place = ask.place { store.waits(for: place, of: record.topic) }
        return .waits(
            Wait(
                app: app.name, key: key, after: max(ask.after, floor - 1), known: version,
                event: (awaited, name, ask.delivery), named: report.map { NamedTokens(in: $0) }, challenge: challenge,
                until: until, life: life, floor: floor))
    }

    private func send(
        _ ask: OutgoingAsk, _ unseen: Int64, _ isCold: Bool, within wait: Duration
    ) throws(Problem) {
        guard isCold else { return sender.send([ask]) }
        do throws(Problem) { try cold.send(ask, unseen: unseen, within: wait) } catch {
            store.delivered(ask, .refused(error))
            throw error
        }
    }

    private static let leastWait = Duration.milliseconds(500)
    static let untaken = Problem.unavailable("the brokers have not taken the event yet")

    /// Waits for the brokers' answer about an event.
    ///
    /// - Throws: `Problem` where they did not accept it, or did not answer within `wait`.
    func requireTaken(_ delivery: Delivery, within wait: Duration) async throws(Problem) {
        switch await delivery.word(within: wait) {
        case .taken: return
        case .refused(let problem): throw problem
        case nil: throw Self.untaken
        }
    }
}
