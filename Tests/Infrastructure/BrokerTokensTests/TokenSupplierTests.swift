import AsyncTestSupport
import BrokerTokens
import Formats
import Foundation
import Kafka
import Logging
import Synchronization
import Testing

private final class Scripted: TokenSource {
    private struct State {
        var answers: [Result<Int64, TokenFailure>]
        var asked = 0
    }

    private let state: Mutex<State>

    /// - Parameter answers: how long the next tokens live, in milliseconds, or why there is none; the last one again and again.
    init(_ answers: [Result<Int64, TokenFailure>]) { state = Mutex(State(answers: answers)) }

    func token(at now: UnixTime) async throws(TokenFailure) -> BearerToken {
        let (answer, number) = state.withLock { state in
            state.asked += 1
            return (state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0], state.asked)
        }
        let life = try answer.get()
        do { return try BearerToken("s3cr3t-\(number)", expiry: now.milliseconds + life, principal: "p") } catch {
            throw TokenFailure(error.message)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct TokenSupplierTests {
    private static let clock: @Sendable () -> UnixTime = {
        UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1_000_000))
    }

    /// - Parameter ended: called when nothing supplies the provider any more.
    private func properties(
        _ source: any TokenSource, _ tally: TokenTally, ended: @escaping @Sendable () -> Void = {}
    ) -> ClientProperties {
        let supplier = TokenSupplier(source: source, tally: tally, now: Self.clock, draw: { 0.5 })
        var properties: ClientProperties = [
            "bootstrap.servers": "127.0.0.1:1", "security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER",
            "group.id": "g",
        ]
        properties.tokens = BearerTokenProvider {
            await supplier.run($0, $1)
            ended()
        }
        return properties
    }

    @Test func `all clients have one token, and a fresh one in good time though nobody does anything`() async throws {
        // The fourth outlives whatever this machine is busy with.
        let (source, tally) = (
            Scripted([.success(2000), .success(2000), .success(2000), .success(600_000)]), TokenTally()
        )
        let (ends, end) = AsyncStream<Void>.makeStream()
        let properties = properties(source, tally) { end.finish() }
        let provider = try #require(properties.tokens)
        let log = RecordingLog()
        let producer = try KafkaProducer(properties, logger: log.logger())
        let consumer = try KafkaConsumer(properties, topics: ["t"], logger: log.logger())
        // A token is counted before it is handed out.
        try await eventually("four tokens") { provider.token?.text == "s3cr3t-4" }
        let token = try #require(provider.token)
        #expect(provider.hand(token) == 2, "both clients take what is handed out")
        #expect(tally.counts.failed == 0)
        await producer.close(within: .zero)
        #expect(provider.hand(token) == 1)
        await consumer.close(within: .seconds(20))
        #expect(provider.hand(token) == 0)
        // No client is left, so that nothing supplies the provider.
        for await _ in ends {}
        #expect(!log.lines.contains { "\($0)".contains("s3cr3t") })
    }

    @Test func `a client that asks in vain reports why, and hears of the next token`() async throws {
        let (source, tally) = (Scripted([.failure(TokenFailure("the server sleeps")), .success(60_000)]), TokenTally())
        let log = RecordingLog()
        let consumer = try KafkaConsumer(properties(source, tally), topics: ["t"], logger: log.logger())
        var errors: [String] = []
        try await eventually("the refusal") {
            for case .error(let error) in await consumer.events(limit: 10, within: .milliseconds(100)) {
                errors.append(error.message)
            }
            return errors.contains { $0.contains("OAUTHBEARER token: the server sleeps") }
        }
        await log.line(event: "broker-tokens.unavailable")
        await log.line(event: "broker-tokens.available")
        #expect(tally.counts.failed == 1)
        #expect(tally.counts.obtained == 1)
        #expect(tally.trouble == nil)
        await consumer.close(within: .seconds(20))
    }

    @Test func `a failure is reported once, and a live token is kept`() async throws {
        let failure = Result<Int64, TokenFailure>.failure(TokenFailure("the server sleeps"))
        let (source, tally) = (Scripted([.success(3000), failure]), TokenTally())
        let log = RecordingLog()
        let properties = properties(source, tally)
        let consumer = try KafkaConsumer(properties, topics: ["t"], logger: log.logger())
        try await eventually("a second failure") { tally.counts.failed >= 2 }
        #expect(log.lines.count { $0.level == .error && $0.event == "broker-tokens.unavailable" } == 1)
        #expect(properties.tokens?.token?.text == "s3cr3t-1")
        #expect(tally.trouble == "the server sleeps")
        await consumer.close(within: .seconds(20))
    }

    @Test func `a file that changes is followed`() async throws {
        let folder = try Folder()
        let seconds = Self.clock().seconds
        let path = try folder.write(unsecuredJWT(expiry: seconds + 3600), to: "token")
        let tally = TokenTally()
        let properties = properties(FileTokens(path: path), tally)
        let producer = try KafkaProducer(properties, logger: RecordingLog().logger())
        try await eventually("the first token") { properties.tokens?.token != nil }
        let second = unsecuredJWT(expiry: seconds + 7200)
        try folder.write(second, to: "token")
        try await eventually("the second token") { properties.tokens?.token?.text == second }
        #expect(tally.counts.obtained == 2)
        await producer.close(within: .zero)
    }

    @Test func `a token shows nowhere`() throws {
        let token = try BearerToken("s3cr3t", expiry: 1, principal: "p")
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token) \(String(reflecting: token)) \(dumped)".contains("s3cr3t"))
        #expect(throws: KafkaError.self) { try BearerToken("s3cr3t\u{1}", expiry: 1, principal: "p") }
        #expect(throws: KafkaError.self) { try BearerToken.Extension("auth", "x") }
        #expect(throws: KafkaError.self) { try BearerToken.Extension("a1", "x") }
    }
}
