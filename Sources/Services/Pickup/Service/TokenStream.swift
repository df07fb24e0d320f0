import Access
import AdapterKit
import Formats
import HTTPTypes
import NIOCore

/// A device's stream of its tokens, as server-sent events (HTML, section 9.2).
///
/// It sends the version that it starts from, each token that is newer than the device's, and a heartbeat while there is
/// none. It ends at a random age, so that connections move on to other instances. A token that is about to end is
/// replaced before it does.
struct TokenStream: Sendable {
    let asker: Asker
    let app: PickupApp
    let asks: TokenAsks
    let seals: OpenedTokens
    let metrics: PickupMetrics
    let now: @Sendable () -> UnixTime
    /// Returns whether the app is still open to the caller who opened the stream. A configuration that changes that
    /// ends the stream.
    let isServed: @Sendable () -> Bool
    let lastEvent: Int64
    let channel: any Channel

    private static let heartbeat = Duration.seconds(15)
    private static let ages = 300...600
    /// The milliseconds after which a device reconnects, at random: the devices of a gateway that restarts do not all
    /// return in one moment.
    private static let reconnects = 1000...4000
    /// The end of a stream: it asks its device to reconnect after a random delay, over another connection.
    private static var farewell: String {
        "retry: \(Int.random(in: Self.reconnects))\nevent: reconnect\ndata: {}\n\n"
    }

    private var key: [UInt8] { asker.subject.key(app: app.name) }

    private enum Happening: Sendable {
        case token(HeldToken)
        case silence
    }

    private static let headers: HTTPFields = [
        // A proxy that compresses would hold events back.
        .contentType: "text/event-stream", .cacheControl: "no-store, no-transform",
        HTTPField.Name("X-Accel-Buffering") ?? .via: "no",
    ]

    /// The head of a stream, for a HEAD request.
    static var head: Answer {
        var answer = Answer(.ok, headers)
        // A stream has no length.
        answer.headers[.contentLength] = nil
        return answer
    }

    /// Returns the stream, in a place that is held while its client is connected.
    ///
    /// - Throws: `Problem` where too many are open.
    func answer(in places: CallPlaces, from address: IPAddress?) throws(Problem) -> Answer {
        let (number, tokens) = asks.store.listen(to: key, of: asker.subject)
        let hush: @Sendable () -> Void = { [key, store = asks.store] in store.hush(number, key) }
        let place: Place
        do throws(Problem) { place = try places.take(.stream, asker, app.name, from: address) { _ in hush() } } catch {
            hush()
            throw error
        }
        let end: @Sendable () -> Void = {
            place.release()
            hush()
        }
        ClientDeparture.tell(channel, end)
        return Answer(.ok, Self.headers) { writer in
            defer { end() }
            try await run(writer, tokens)
            try await write(Self.farewell, to: writer)
        }
    }

    @concurrent
    private func run(_ writer: AnswerWriter, _ tokens: AsyncStream<HeldToken>) async throws {
        let end = ContinuousClock.now + .seconds(Int.random(in: Self.ages))
        let first = asks.store.live(key, life: 0)
        // A version that no worker can have given does not count: the stream states its start.
        var version = ShownVersion.floor([lastEvent], at: now())
        try await write(
            "retry: \(Int.random(in: Self.reconnects))\nevent: ready\ndata: {\"after\":\(version)}\n\n", to: writer)
        if let first, first.version > version {
            try await send(first, &version, to: writer)
        } else if first.map({ $0.version < version }) ?? true {
            try await ask(&version, to: writer)
        }
        try await follow(tokens, until: end, &version, to: writer)
    }

    @concurrent
    private func follow(
        _ tokens: AsyncStream<HeldToken>, until end: ContinuousClock.Instant, _ version: inout Int64,
        to writer: AnswerWriter
    ) async throws {
        let (happenings, more) = AsyncStream.makeStream(of: Happening.self, bufferingPolicy: .bufferingNewest(2))
        // These tasks only forward, and end with the stream: the writer must stay with its own task.
        let handing = Task {
            for await token in tokens { more.yield(.token(token)) }
            more.finish()
        }
        let beating = Task {
            while (try? await Task.sleep(for: Self.heartbeat)) != nil { more.yield(.silence) }
        }
        defer {
            handing.cancel()
            beating.cancel()
        }
        for await happening in happenings {
            if .now >= end || !isServed() || asker.sessionEnd.map({ $0 <= now() }) ?? false || asker.isWithdrawn() {
                return
            }
            switch happening {
            case .token(let token): try await send(token, &version, to: writer)
            case .silence: try await write(": heartbeat\n\n", to: writer)
            }
        }
    }

    @concurrent
    private func ask(_ version: inout Int64, to writer: AnswerWriter) async throws {
        do {
            switch try await asks.token(for: asker, app, life: 0, notBelow: version, within: Self.heartbeat) {
            case .token(let token): try await send(token, &version, to: writer)
            case .waits(let wait):
                guard let delivery = wait.event?.delivery else { return }
                try await asks.requireTaken(delivery, within: Self.heartbeat)
            case .accepted, .nothing: break
            }
        } catch let problem as Problem {
            try await write(
                "event: problem\ndata: {\"code\":\"\(problem.code)\",\"retry_after\":\(problem.retryAfter ?? 0)}\n\n",
                to: writer)
        }
    }

    @concurrent
    private func send(
        _ token: HeldToken, _ version: inout Int64, to writer: AnswerWriter
    ) async throws {
        guard token.version > version else { return }
        version = token.version
        let answer = try TokenAnswer(token, of: asker.subject, for: app, opening: seals, at: now())
        var buffer = ByteBuffer(string: "id: \(token.version)\nevent: token\ndata: ")
        buffer.writeBytes(answer.bytes)
        buffer.writeString("\n\n")
        try await writer.write(buffer)
        metrics.handedOver(token, app.name, at: now())
    }

    @concurrent
    private func write(_ text: String, to writer: AnswerWriter) async throws {
        try await writer.write(ByteBuffer(string: text))
    }
}
