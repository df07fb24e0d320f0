import HTTPTransport
import Logging
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
