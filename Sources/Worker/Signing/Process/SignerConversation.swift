import AdapterKit
import Logging
import NIOCore
import Pipeline
import ServiceLifecycle
import Telemetry

/// A signer's side of a connection: answers each question, several at a time, until the worker leaves.
struct SignerConversation: Sendable {
    /// The most questions that are worked on at once; a question after the keys is not kept waiting by signatures.
    private static let maximumQuestions = 4

    let signer: LocalSigner
    let keys: PublishedKeys
    let logger: Logger

    /// Answers until the worker leaves, a graceful shutdown, or a frame that is none: then the connection is closed, for
    /// nobody knows where the next frame would begin.
    func run(_ connection: NIOAsyncChannel<SignerFrame, ByteBuffer>) async {
        logger.info("a worker connected")
        do {
            try await connection.executeThenClose { questions, answers in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    var open = 0
                    for try await question in questions.cancelOnGracefulShutdown() {
                        while open >= Self.maximumQuestions, try await group.next() != nil { open -= 1 }
                        group.addTask { try await answers.write(try await answer(question).encoded()) }
                        open += 1
                    }
                    try await group.waitForAll()
                }
            }
            logger.info("a worker left")
        } catch let error as SignerProtocolError {
            logger.warning(
                "a connection was closed: what came is not of the signer's protocol",
                metadata: [LogKey.detail: "\(error)"])
        } catch {
            logger.info("a worker left", metadata: [LogKey.detail: "\(error)"])
        }
    }

    private func answer(_ question: SignerFrame) async throws(SignerProtocolError) -> SignerFrame {
        switch question {
        case .keysRequest(let id): return .keys(id: id, keys.all)
        case .signRequest(let id, let urgency, let items): return .signatures(id: id, await sign(items, urgency))
        case .keys, .signatures: throw SignerProtocolError("a worker sent an answer where it may only ask")
        }
    }

    private func sign(_ items: [SignerFrame.Item], _ urgency: SigningUrgency) async -> [SignerFrame.Answer] {
        let references = keys.references(of: items)
        var requests: [SigningRequest] = []
        var answers = [SignerFrame.Answer](repeating: .failed, count: items.count)
        var places: [Int] = []
        for (index, (item, reference)) in zip(items, references).enumerated() {
            guard let reference else {
                answers[index] = .keyUnavailable
                continue
            }
            // A key that signs tokens signs nothing that could be taken for something else.
            guard Self.isSigningInput(item.input) else { continue }
            requests.append(SigningRequest(key: reference, input: SigningInput(bytes: item.input)))
            places.append(index)
        }
        for (place, signature) in zip(places, await signer.sign(requests, urgency: urgency)) {
            answers[place] =
                switch signature {
                case .success(let bytes): .signature(bytes)
                case .failure(let rejection): rejection.code == .keyUnavailable ? .keyUnavailable : .failed
                }
        }
        return answers
    }

    /// Whether `input` is two parts in base64url with a dot between them (RFC 7515, section 5.1).
    static func isSigningInput(_ input: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        var dots = 0
        for byte in input {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            case dot: dots += 1
            default: return false
            }
        }
        return dots == 1 && input.first != dot && input.last != dot
    }
}
