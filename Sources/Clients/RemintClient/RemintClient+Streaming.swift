import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension RemintClient {
    /// The seconds without a byte after which the client closes a stream: the gateway sends a heartbeat every 15
    /// seconds.
    private static let silence = 60.0

    /// The state of a stream, which several connections in a row share.
    private struct Course {
        /// The number of failed connections in a row.
        var drops = 0
        /// The seconds before the client connects again, from the gateway's field `retry`; 2 without this field.
        var retry = 2.0
        /// The seconds of `Retry-After` in the last answer; nil without this header.
        var after: Double?
    }

    /// Passes each newer token to `more`, until the task is canceled or the gateway refuses the stream.
    func stream(to more: AsyncThrowingStream<Answer, any Error>.Continuation) async {
        do {
            try await running { try await self.follow(more) }
            more.finish()
        } catch let refusal as RemintError where refusal.code != "closed" {
            more.finish(throwing: refusal)
        } catch {
            more.finish()
        }
    }

    private func follow(_ more: AsyncThrowingStream<Answer, any Error>.Continuation) async throws {
        var course = Course()
        while true {
            try requireOpen()
            course.drops += 1
            course.after = nil
            do {
                try await connect(&course, more)
            } catch let refusal as RemintError {
                throw refusal
            } catch {
                try Task.checkCancellation()
            }
            if course.drops > 0 {
                try await pause(after: course.drops, retryAfter: course.after)
            } else {
                try await pause(seconds: course.retry * (0.5 + timing.random()), isFixed: false)
            }
        }
    }

    /// Opens a connection and reads its events until the connection closes. Each connection starts after the newest
    /// known version.
    private func connect(
        _ course: inout Course, _ more: AsyncThrowingStream<Answer, any Error>.Continuation
    ) async throws {
        var request = try await request(path: "token/stream", timeout: Self.silence)
        request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        request.setValue("\(known.version)", forHTTPHeaderField: "Last-Event-ID")
        let (response, chunks) = try await exchange.open(request)
        course.after = retryAfter(response)
        if Self.isFinal(response.statusCode) {
            throw RemintError(app: app, status: response.statusCode, body: try await Self.body(of: chunks))
        }
        let type = response.value(forHTTPHeaderField: "Content-Type") ?? ""
        guard response.statusCode == 200, type.contains("event-stream") else { return }
        course.drops = 0
        var parser = EventParser()
        for try await chunk in chunks {
            for event in try parser.read(chunk) { try await hear(event, more) }
            course.retry = parser.retry ?? course.retry
        }
    }

    private func hear(
        _ event: EventParser.Event, _ more: AsyncThrowingStream<Answer, any Error>.Continuation
    ) async throws {
        try requireOpen()
        let before = known.version
        let data = Data(event.data.utf8)
        switch event.name {
        case "token":
            guard let answer = try? JSONDecoder().decode(Answer.self, from: data) else { return }
            if keep(answer).version > before { more.yield(answer) }
        case "ready":
            // If the stream starts after a newer version, the client missed tokens: get the newest one.
            guard let start = try? JSONDecoder().decode(Start.self, from: data), 0 < before, before < start.after else {
                return
            }
            let answer = try await share(.token(life: 60))
            try requireOpen()
            if answer.version > before { more.yield(answer) }
        default: break
        }
    }

    /// The data of the event `ready`: the version after which the stream starts.
    private struct Start: Decodable {
        let after: Int64
    }

    private static func body(of chunks: AsyncThrowingStream<Data, any Error>) async throws -> Data {
        var body = Data()
        for try await chunk in chunks where body.count < 65536 { body.append(chunk) }
        return body
    }
}
