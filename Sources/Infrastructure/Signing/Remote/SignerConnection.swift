import NIOCore
import NIOPosix
import Synchronization

/// The reason that a question to a signer has no answer.
enum SignerFailure: Error, Sendable, Equatable {
    /// The connection broke, or there is none.
    case broken(String)
    /// The signer closed the connection, for this reason.
    case closed(SignerClosing)
    /// The answer did not come in time.
    case overdue(Duration)
    /// The bytes from the signer are not of the protocol.
    case malformed(String)
    /// The question does not fit into a frame.
    case tooLarge(String)
}

/// A worker's side of a connection: questions and, by their numbers, their answers.
///
/// A question is sent once. However the connection ends, every question that is open then fails at once.
final class SignerConnection: Sendable {
    private let channel: any Channel
    private let questions: SignerQuestions

    private init(_ channel: any Channel, _ questions: SignerQuestions) {
        self.channel = channel
        self.questions = questions
    }

    /// Connects to the signer on `socket`.
    ///
    /// - Throws: NIO's errors.
    static func open(_ socket: String) async throws -> SignerConnection {
        let questions = SignerQuestions()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(SignerFrameDecoder()), SignerAnswerHandler(questions),
                    ])
                }
            }
            .connect(unixDomainSocketPath: socket).get()
        return SignerConnection(channel, questions)
    }

    /// Sends the question that `question` makes of a number, and waits for the answer, for `timeout` at most.
    func ask(
        within timeout: Duration, _ question: (UInt64) -> SignerFrame
    ) async -> Result<SignerFrame, SignerFailure> {
        let id = questions.number()
        let bytes: ByteBuffer
        do throws(SignerProtocolError) { bytes = try question(id).encoded() } catch {
            return .failure(.tooLarge(error.description))
        }
        return await withCheckedContinuation { continuation in
            let questions = questions
            guard questions.wait(for: id, continuation) else { return }
            // After the question: an alarm that rings before it would find nothing, and not ring again.
            let alarm = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
                questions.fail(id, .overdue(timeout))
            }
            questions.set(alarm, for: id)
            channel.writeAndFlush(bytes).whenFailure { questions.fail(id, .broken("\($0)")) }
        }
    }

    /// Ends the connection; open questions fail with `failure`.
    func close(_ failure: SignerFailure) {
        questions.end(failure)
        channel.close(promise: nil)
    }
}

/// The questions that have no answer yet.
final class SignerQuestions: Sendable {
    typealias Waiter = CheckedContinuation<Result<SignerFrame, SignerFailure>, Never>

    private struct State {
        var lastNumber: UInt64 = 0
        var open: [UInt64: (waiter: Waiter, alarm: Scheduled<Void>?)] = [:]
        var end: SignerFailure?
    }

    private let state = Mutex(State())

    /// Returns the next question's number.
    func number() -> UInt64 {
        state.withLock { state in
            state.lastNumber &+= 1
            return state.lastNumber
        }
    }

    /// Registers the question `id`; where the connection is closed, the question fails at once.
    ///
    /// - Returns: whether the question is open.
    func wait(for id: UInt64, _ waiter: Waiter) -> Bool {
        let end = state.withLock { state in
            if state.end == nil { state.open[id] = (waiter, nil) }
            return state.end
        }
        guard let end else { return true }
        waiter.resume(returning: .failure(end))
        return false
    }

    /// Keeps the alarm of the question `id`, which is canceled with the question's end.
    func set(_ alarm: Scheduled<Void>, for id: UInt64) {
        let isOpen = state.withLock { state in
            state.open[id]?.alarm = alarm
            return state.open[id] != nil
        }
        if !isOpen { alarm.cancel() }
    }

    /// Passes an answer to its question. An answer that comes after its question failed is dropped.
    ///
    /// - Throws: `SignerProtocolError` where nothing of the kind was asked.
    func answer(_ frame: SignerFrame) throws(SignerProtocolError) {
        switch frame {
        case .keys, .signatures: break
        case .closing(let reason):
            end(.closed(reason))
            return
        case .keysRequest, .signRequest: throw SignerProtocolError("the signer asks where it may only answer")
        }
        let isKnown = state.withLock { $0.lastNumber >= frame.id }
        guard isKnown else { throw SignerProtocolError("the signer answers what was not asked") }
        finish(frame.id, .success(frame))
    }

    /// Fails the question `id`, which will have no answer.
    func fail(_ id: UInt64, _ failure: SignerFailure) { finish(id, .failure(failure)) }

    /// Fails all open questions: none of them will have an answer any more.
    func end(_ failure: SignerFailure) {
        let (open, reason) = state.withLock { state in
            let reason = state.end ?? failure
            state.end = reason
            defer { state.open = [:] }
            return (state.open.values.map { $0 }, reason)
        }
        for question in open {
            question.alarm?.cancel()
            question.waiter.resume(returning: .failure(reason))
        }
    }

    private func finish(_ id: UInt64, _ result: Result<SignerFrame, SignerFailure>) {
        guard let question = state.withLock({ $0.open.removeValue(forKey: id) }) else { return }
        question.alarm?.cancel()
        question.waiter.resume(returning: result)
    }
}

/// Passes the signer's answers to their questions, and ends the connection where an answer violates the protocol.
private final class SignerAnswerHandler: ChannelInboundHandler {
    typealias InboundIn = SignerFrame

    private let questions: SignerQuestions

    init(_ questions: SignerQuestions) { self.questions = questions }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do throws(SignerProtocolError) { try questions.answer(Self.unwrapInboundIn(data)) } catch {
            errorCaught(context: context, error: error)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        questions.end(error is SignerProtocolError ? .malformed("\(error)") : .broken("\(error)"))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        questions.end(.broken("the signer closed the connection"))
        context.fireChannelInactive()
    }
}
