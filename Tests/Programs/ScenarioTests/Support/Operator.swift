import Foundation
import Kafka
import ProgramTestSupport
import Testing

/// Someone at a terminal who runs `remint rotate`.
struct Operator: Sendable {
    let configuration: String
    let brokers: String
    let ring: String

    init(shop: borrowing Shop, ring: String) {
        configuration = shop.configuration
        brokers = shop.broker.bootstrapServers
        self.ring = ring
    }

    /// An operator with a configuration of the ring's own, as beside a signer.
    init(configuration: String, of shop: borrowing Shop, ring: String) {
        self.configuration = configuration
        brokers = shop.broker.bootstrapServers
        self.ring = ring
    }

    /// A program of this shop that an operator runs.
    func remint(_ arguments: [String], brokers: Bool = false) async throws -> Command {
        try await Command.remint(
            arguments + ["--config", configuration] + (brokers ? ["--brokers", self.brokers] : []))
    }

    /// A step that goes on while the test does.
    func starts(_ step: String, _ options: String...) throws -> Program {
        try Program(
            Repository.remint,
            ["rotate", step, "--config", configuration, "--key", ring, "--brokers", brokers] + options)
    }

    func run(_ step: String, _ options: [String], brokers: Bool) async throws -> Command {
        try await Command.remint(
            ["rotate", step, "--config", configuration, "--key", ring] + options
                + (brokers ? ["--brokers", self.brokers] : []))
    }

    /// A step that is taken, and that changes nothing when it is taken again.
    func does(_ step: String, _ options: String..., brokers: Bool = false) async throws {
        let program = try await run(step, options, brokers: brokers)
        try #require(program.status == 0, "\(step): \(program.errorText)")
    }

    /// A step that is refused with one clear line.
    func isRefused(_ step: String, _ options: String..., brokers: Bool = false, saying words: String) async throws {
        let program = try await run(step, options, brokers: brokers)
        #expect(program.status == 1, "\(step): \(program.outputText)")
        #expect(program.errorText.contains(words), "\(step): \(program.errorText)")
    }

    func status() async throws -> [String: Any] {
        let program = try await run("status", ["--json"], brokers: true)
        try #require(program.status == 0, "\(program.errorText)")
        return try #require(try JSONSerialization.jsonObject(with: program.standardOutput) as? [String: Any])
    }
}
