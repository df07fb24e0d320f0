import HTTPTransport
import Kafka
import Logging
import Pipeline
import Signing
import VendorLookup
import Wiring
public import WorkerConfiguration

/// Asks a configuration's questions, with clients like a worker's own. It joins no group
/// that workers are in, writes no record and creates no topic.
public struct ConnectionCheck: Sendable {
    private let configuration: Configuration
    private let limit: Duration
    private let sessionKeys: (@Sendable (String, Duration) async throws -> String)?
    /// A logger that logs nothing: the answers contain the errors.
    static let silence = Logger(label: "remint.check") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameters:
    ///   - limit: The timeout of each answer.
    ///   - sessionKeys: A function that fetches the keys of a session's section within a time and describes them; nil
    ///     asks no issuer.
    public init(
        _ configuration: Configuration, limit: Duration,
        sessionKeys: (@Sendable (String, Duration) async throws -> String)? = nil
    ) {
        self.sessionKeys = sessionKeys
        self.configuration = configuration
        self.limit = limit
    }

    /// Asks one question after the other, and calls `report` with each answer.
    ///
    /// - Returns: all answers.
    @discardableResult
    public func run(_ report: (ConnectionAnswer) -> Void = { _ in }) async -> [ConnectionAnswer] {
        var brokers = BrokerCheck(configuration, limit: limit)
        var answers: [ConnectionAnswer] = []
        for question in configuration.connectionQuestions
            + (sessionKeys == nil ? [] : configuration.sessionKeyQuestions)
        {
            let answer: ConnectionAnswer
            do throws(ConnectionProblem) {
                let detail = try await ask(question, &brokers)
                answer = ConnectionAnswer(question: question, isOK: true, detail: detail)
            } catch { answer = ConnectionAnswer(question: question, isOK: false, detail: error.text) }
            report(answer)
            answers.append(answer)
        }
        return answers
    }

    private func ask(
        _ question: ConnectionQuestion, _ brokers: inout BrokerCheck
    ) async throws(ConnectionProblem) -> String {
        switch question {
        case .brokers: try await brokers.reach()
        case .topic(let name, let isRead): try await brokers.look(at: name, isRead: isRead)
        case .group(let group, let topic): try await brokers.use(group: group, of: topic)
        case .transactionalID(let id): try await brokers.register(id)
        case .endpoint(let account): try await reach(account)
        case .signer(let socket): try await reach(signer: socket)
        case .sessionKeys(let section): try await keys(of: section)
        }
    }

    private func reach(_ account: String) async throws(ConnectionProblem) -> String {
        guard let endpoint = VendorLookups.endpoints(configuration).first(where: { $0.account == account }) else {
            throw ConnectionProblem("no endpoint is configured for the account \(account)")
        }
        do throws(EndpointError) {
            let status = try await endpoint.reach(within: limit)
            return "it answers with status \(status)"
        } catch {
            throw ConnectionProblem(
                "\(error); see apps.\(account).lookup, and whether this machine may connect to there")
        }
    }

    private func keys(of section: String) async throws(ConnectionProblem) -> String {
        do { return try await sessionKeys?(section, limit) ?? "not asked" } catch {
            throw ConnectionProblem(
                "\(error); see pickup.\(section).jwks, and whether this machine may connect to there")
        }
    }

    private func reach(signer socket: String) async throws(ConnectionProblem) -> String {
        let rings = configuration.signers[socket] ?? [:]
        let trouble = await SignerProcess.trouble(at: socket, wanted: rings, within: limit, logger: Self.silence)
        if let trouble { throw ConnectionProblem("it \(trouble)") }
        return "it has \(rings.keys.sorted().joined(separator: ", "))"
    }
}

/// An error in something that a worker needs, with its fix.
struct ConnectionProblem: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

/// A condition that must be met for a worker to do its work.
public enum ConnectionQuestion: Sendable, Equatable, CustomStringConvertible {
    case brokers(String)
    /// The topic exists, and may be read if the worker reads it.
    case topic(String, isRead: Bool)
    case group(String, of: String)
    /// Transactional ids like this one, which no worker has, may be used.
    case transactionalID(String)
    case endpoint(account: String)
    case signer(String)
    /// The issuer of this session's section publishes keys that verify its sessions.
    case sessionKeys(section: String)

    public var description: String {
        switch self {
        case .brokers(let addresses): "brokers \(addresses)"
        case .topic(let name, _): "topic \(name)"
        case .group(let name, _): "group \(name)"
        case .transactionalID(let id): "transactional id \(id)"
        case .endpoint(let account): "look-ups of \(account)"
        case .signer(let socket): "signer \(socket)"
        case .sessionKeys(let section): "keys of pickup.\(section)"
        }
    }
}

/// The answer to a question. One line; never a secret.
public struct ConnectionAnswer: Sendable, Equatable, CustomStringConvertible {
    public let question: ConnectionQuestion
    public let isOK: Bool
    /// The thing found; if it is not as required, the error and its fix.
    public let detail: String

    public var description: String { isOK ? "\(question): ok, \(detail)" : "\(question): error: \(detail)" }
}

extension Configuration {
    /// The questions before a worker starts with this configuration, in their order. There are none for an embedded
    /// broker, which starts with the worker.
    public var connectionQuestions: [ConnectionQuestion] {
        var questions = kafka.isEmbedded ? [] : brokerQuestions
        questions += VendorLookups.endpoints(self).map { ConnectionQuestion.endpoint(account: $0.account) }
        questions += signers.keys.sorted().map { ConnectionQuestion.signer($0) }
        return questions
    }

    /// The additional questions before a gateway starts with this configuration.
    var sessionKeyQuestions: [ConnectionQuestion] {
        (pickup?.sessions ?? []).map { ConnectionQuestion.sessionKeys(section: $0.name) }
    }

    private var brokerQuestions: [ConnectionQuestion] {
        let properties = KafkaProperties(self, bootstrapServers: kafka.bootstrapServers)
        // The token topic is read for the versions in it.
        let read = Set(inputTopics + [topics.tokens, topics.control])
        var questions = [ConnectionQuestion.brokers(kafka.bootstrapServers)]
        for topic in allTopics + [topics.control] { questions.append(.topic(topic, isRead: read.contains(topic))) }
        for lane in Lane.allCases {
            guard let group = properties.consumer(of: lane)["group.id"], let topic = topics(of: lane).first else {
                continue
            }
            questions.append(.group(group, of: topic))
        }
        if delivery == .exactlyOnce { questions.append(.transactionalID("\(kafka.group)-check")) }
        return questions
    }
}
