import Kafka
import Pipeline
import Wiring
import WorkerConfiguration

/// The search for a live worker with this one's name, once the brokers fence this one again and again.
///
/// A fence alone shows no such worker: a coordinator that is lost, and a transaction that outlived its timeout, fence a
/// worker too, and a new epoch ends that. A worker with the same name comes back, and its place in the group outlives a
/// session's timeout in which this worker is away.
struct TwinSearch {
    /// The time after which a fence has nothing to do with the one before.
    private static let memory = Duration.seconds(60)
    /// The fences in a row after which the worker ends, if the brokers do not show their groups.
    private static let most = 5

    /// The next step after a fence.
    enum Step: Equatable {
        /// Make new clients, which get a new epoch.
        case again
        /// Stay away for a session's timeout, then look who is in the group.
        case look
    }

    private var last: Duration?
    private var count = 0

    /// Notes a fence at `now`, counted from any moment.
    mutating func fenced(at now: Duration) -> Step {
        count = last.map { now - $0 < Self.memory } ?? false ? count + 1 : 1
        last = now
        return count == 1 ? .again : .look
    }

    /// Returns why the worker must end; nil where it makes new clients.
    ///
    /// - Parameters:
    ///   - members: the members of the live lane's group, after this worker was away from it; nil where the brokers do not
    ///     show them.
    ///   - name: the name by which the group knows this worker.
    func end(_ members: [ConsumerGroup.Member]?, name: String, worker: String) -> WorkerError? {
        guard let members else {
            guard count >= Self.most else { return nil }
            return WorkerError(
                "fenced \(count) times in a row, and the brokers do not show the group's members: allow DESCRIBE on it, and give each worker its own kafka.instance; this one is \(worker)"
            )
        }
        // A static member's id is its name and a random part.
        guard let twin = members.first(where: { $0.id.hasPrefix("\(name)-") }) else { return nil }
        return WorkerError(
            "fenced: another live worker, at \(twin.host), has this one's name, \(worker); give each its own kafka.instance"
        )
    }

    /// Returns the members of the live lane's group; nil where the brokers do not show them.
    static func members(_ properties: KafkaProperties, _ context: SessionContext) async -> [ConsumerGroup.Member]? {
        guard let producer = try? KafkaProducer(properties.producer, logger: context.clientLogger) else { return nil }
        let group = properties.group(of: .live)
        let groups = try? await producer.consumerGroups([group], within: .seconds(10))
        await producer.close(within: .zero)
        return groups?[group]?.members
    }
}

extension Session {
    /// Waits after a fence until new clients may be made.
    ///
    /// - Returns: false when the worker is to stop.
    /// - Throws: `WorkerError` where another live worker has this one's name.
    func outlive(_ twins: inout TwinSearch, _ elapsed: Duration) async throws -> Bool {
        guard twins.fenced(at: elapsed) == .look, let place else { return true }
        let properties = KafkaProperties(context.configuration, bootstrapServers: bootstrapServers)
        let member = properties.member(of: .live, topics: context.configuration.topics(of: .live), place: place)
        guard await pause(properties.sessionLength + .seconds(2)) else { return false }
        let members = await TwinSearch.members(properties, context)
        if let end = twins.end(members, name: member["group.instance.id"] ?? place, worker: instance) {
            throw end
        }
        return true
    }
}
