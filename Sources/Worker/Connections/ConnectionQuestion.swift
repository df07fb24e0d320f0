import Wiring
import Kafka
import Pipeline
import VendorLookup
public import WorkerConfiguration

/// Something that must be reached, or be there, for a worker to do its work.
public enum ConnectionQuestion: Sendable, Equatable, CustomStringConvertible {
    /// Does a broker answer at these addresses?
    case brokers(String)
    /// Is the topic there, and may it be read where the worker reads it?
    case topic(String, isRead: Bool)
    /// May the consumer group be used?
    case group(String, of: String)
    /// May transactional ids like this one be used? No worker has this one.
    case transactionalID(String)
    /// Does the vendor's REST API of this account answer?
    case endpoint(account: String)
    /// Does the signer on this socket have its rings?
    case signer(String)
    /// Does the issuer of this session's section give out keys that verify its sessions?
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
    /// The question.
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
