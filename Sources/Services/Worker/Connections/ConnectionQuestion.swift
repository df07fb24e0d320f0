import Kafka
import Pipeline
import VendorLookup
import Wiring
public import WorkerConfiguration

/// A condition that must be met for a worker to do its work.
public enum ConnectionQuestion: Sendable, Equatable, CustomStringConvertible {
    case brokers(String)
    /// The topic exists, and may be read if the worker reads it.
    case topic(String, isRead: Bool)
    case group(String, of: String)
    /// Transactional ids like this one, which no worker has, may be used.
    case transactionalID(String)
    /// The vendor's REST API of this account answers.
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
    /// Whether it is as a worker needs it.
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
