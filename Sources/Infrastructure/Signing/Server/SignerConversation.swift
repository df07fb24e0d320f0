import AdapterKit
import Logging
import NIOCore
import Pipeline
import ServiceLifecycle
import Telemetry

/// The parts that all of a signer's connections share.
struct SharedSigning: Sendable {
    let signer: LocalSigner
    let keys: PublishedKeys
    /// The policies by ring.
    let policies: [String: SigningPolicy]
    let connections: SignerConnections
    let tally: SigningTally
    let clock: SignerClock
    let logger: Logger
    /// The turns of live requests. Background requests have turns of their own and sign on other threads, so that no
    /// waiting caller waits for work that nobody waits for.
    private let live = SigningTurns()
    private let background = SigningTurns()

    init(
        signer: LocalSigner, keys: PublishedKeys, policies: [String: SigningPolicy],
        connections: SignerConnections, tally: SigningTally, clock: SignerClock, logger: Logger
    ) {
        self.signer = signer
        self.keys = keys
        self.policies = policies
        self.connections = connections
        self.tally = tally
        self.clock = clock
        self.logger = logger
    }

    /// Returns the turns in which requests of `urgency` sign.
    func turns(for urgency: SigningUrgency) -> SigningTurns { urgency == .live ? live : background }
}

/// A signer's side of a connection: answers each question, several at a time, until the worker leaves.
struct SignerConversation: Sendable {
    /// The most questions that are worked on at once; a question after the keys is not kept waiting by signatures.
    private static let maximumQuestions = 4
    /// The number of items that are signed in one turn, the most that a worker asks for at a time.
    static let pieceCount = 256

    let shared: SharedSigning
    /// The connection's number.
    let number: Int
    /// The id of the user on the other side.
    let user: UInt32

    /// Answers until the worker leaves, a graceful shutdown, or a frame that is none: then the connection is closed, for
    /// nobody knows where the next frame would begin.
    func run(_ connection: NIOAsyncChannel<SignerFrame, ByteBuffer>) async {
        let metadata: Logger.Metadata = [LogKey.signerUser: "\(user)"]
        shared.logger.info("signer.worker-connected", "a worker connected", metadata: metadata)
        do {
            try await connection.executeThenClose { questions, answers in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    var open = 0
                    for try await question in questions.cancelOnGracefulShutdown() {
                        shared.connections.asked(number)
                        while open >= Self.maximumQuestions, try await group.next() != nil { open -= 1 }
                        group.addTask {
                            let bytes: ByteBuffer
                            do {
                                defer { shared.connections.answered(number) }
                                bytes = try await answer(question).encoded()
                            }
                            try await answers.write(bytes)
                            shared.connections.delivered(number)
                        }
                        open += 1
                    }
                    try await group.waitForAll()
                }
            }
            shared.logger.info("signer.worker-left", "a worker left", metadata: metadata)
        } catch let error as SignerProtocolError {
            shared.logger.warning(
                "signer.protocol-violated", "a connection was closed: what came is not of the signer's protocol",
                metadata: metadata.merging([LogKey.detail: "\(error)"]) { $1 })
        } catch {
            shared.logger.info(
                "signer.worker-left", "a worker left", metadata: metadata.merging([LogKey.detail: "\(error)"]) { $1 })
        }
    }

    private func answer(_ question: SignerFrame) async throws(SignerProtocolError) -> SignerFrame {
        switch question {
        case .keysRequest(let id): return .keys(id: id, shared.keys.all)
        case .signRequest(let id, let urgency, let items): return .signatures(id: id, await sign(items, urgency))
        case .keys, .signatures, .closing:
            throw SignerProtocolError("a worker sent an answer where it may only ask")
        }
    }

    /// Signs the items piece by piece, each piece in its turn.
    private func sign(_ items: [SignerFrame.Item], _ urgency: SigningUrgency) async -> [SignerFrame.Answer] {
        let turns = shared.turns(for: urgency)
        var answers: [SignerFrame.Answer] = []
        for start in stride(from: 0, to: items.count, by: Self.pieceCount) {
            let piece = items[start..<min(start + Self.pieceCount, items.count)]
            answers += await turns.take(.init(user: user, connection: number)) {
                // Nobody is there any more to take them.
                Task.isCancelled ? piece.map { _ in .failed } : await sign(piece, urgency)
            }
        }
        return answers
    }

    private func sign(
        _ items: ArraySlice<SignerFrame.Item>, _ urgency: SigningUrgency
    ) async -> [SignerFrame.Answer] {
        let now = shared.clock.now()
        var requests: [SigningRequest] = []
        var answers = [SignerFrame.Answer](repeating: .failed, count: items.count)
        var places: [Int] = []
        for (index, (item, reference)) in zip(items, shared.keys.references(of: items)).enumerated() {
            // A ring without a policy is none that this signer serves.
            guard let reference, let policy = shared.policies[item.ring] else {
                answers[index] = .keyUnavailable
                continue
            }
            if let violation = policy.violation(
                of: item.input, signedWith: reference.algorithm, keyID: reference.keyID, at: now)
            {
                answers[index] = .refused(violation)
                continue
            }
            requests.append(SigningRequest(key: reference, input: SigningInput(bytes: item.input)))
            places.append(index)
        }
        for (place, signature) in zip(places, await shared.signer.sign(requests, urgency: urgency)) {
            answers[place] =
                switch signature {
                case .success(let bytes): .signature(bytes)
                case .failure(let rejection): rejection.code == .keyUnavailable ? .keyUnavailable : .failed
                }
        }
        count(items, answers)
        return answers
    }

    private func count(_ items: ArraySlice<SignerFrame.Item>, _ answers: [SignerFrame.Answer]) {
        var counts: [String: SigningTally.Counts] = [:]
        for (item, answer) in zip(items, answers) {
            // A ring that does not exist gets no line: a peer could fill the log with names.
            guard shared.policies[item.ring] != nil else { continue }
            switch answer {
            case .signature: counts[item.ring, default: .init()].signed += 1
            case .refused: counts[item.ring, default: .init()].refused += 1
            case .keyUnavailable, .failed: counts[item.ring, default: .init()].failed += 1
            }
        }
        shared.tally.add(counts, of: user)
    }
}
