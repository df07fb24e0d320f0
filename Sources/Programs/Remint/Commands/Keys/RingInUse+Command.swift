import AdapterKit
import ArgumentParser
import Keyring
import Logging
import Operations
import WorkerConfiguration

/// The questions of commands about a ring, answered in an operator's words.
extension RingInUse {
    /// - Parameter brokers: the brokers to use instead of the configured ones.
    /// - Throws: `TokensLive`, `UseNotOver`, or the error that keeps the ledger from being read.
    func requireNoLiveToken(
        of versions: [String], instead brokers: String?, tolerating tolerance: ClockTolerance, next: RemintCommand
    ) async throws {
        try await requireNoLiveToken(
            of: versions, brokers: try configuration.brokers(instead: brokers), tolerating: tolerance, next: next,
            logger: .quiet(configuration.log), display: ProgressLines.display())
    }

    /// Returns the tokens that the ledger shows of `version` and of the ring's revoked versions.
    ///
    /// - Parameter brokers: instead of the configured ones.
    func holdings(of version: String, instead brokers: String?) async throws -> CampaignHoldings {
        try await LedgerReader(
            configuration, brokers: try configuration.brokers(instead: brokers), logger: .quiet(configuration.log),
            display: ProgressLines.display()
        ).holdings(of: try withRevoked(version), in: self, at: now())
    }

    /// Returns the tokens of the revoked `version`, and of the ring's other revoked ones, once workers add none.
    ///
    /// - Parameter brokers: instead of the configured ones.
    func finalReading(of version: String, instead brokers: String?) async throws -> FinalReading {
        try await finalReading(
            of: version, brokers: try configuration.brokers(instead: brokers), logger: .quiet(configuration.log),
            display: ProgressLines.display())
    }

    /// Prints the number of tokens of the revoked `version` left in the ledger, and the next command.
    ///
    /// - Parameters:
    ///   - brokers: the brokers to use instead of the configured ones.
    ///   - next: the command that gives the users new tokens; nil for the revocation of `version`.
    /// - Throws: `ExitCode` 1 where a token is left, or may be.
    func requireNoLeak(of version: String, instead brokers: String?, next: RemintCommand? = nil) async throws {
        let leak = await leak(of: version, instead: brokers, next: next)
        Terminal.print("\(ring.name): \(leak.sentence)")
        guard leak.isOver else { throw ExitCode.failure }
    }

    /// Returns the sentence for the tokens of the revoked `version` left in the ledger, with the next command, and
    /// whether it is known that none is left.
    func leak(
        of version: String, instead brokers: String?, next: RemintCommand? = nil
    ) async -> (sentence: String, isOver: Bool) {
        let signs = (try? directory.readListing())?.active != nil
        let revocation = ["--key-version", version] + (signs ? [] : ["--promote", "ID"])
        let next = next ?? RemintCommand("rotate revoke", ring: ring.name, arguments: revocation)
        do {
            let reading = try await finalReading(of: version, instead: brokers)
            return (reading.sentence(next: next), reading.isOver)
        } catch {
            let unknown = "an unknown number of live tokens of \(version) is left, for the ledger cannot be read"
            return ("\(unknown) (\(error)); give their users new ones with: \(next)", false)
        }
    }

    /// Prints that `version`, which was to be revoked, is still in use, where the ring or its campaign could not be
    /// written: the tokens that count meanwhile, and the command to run again.
    func warnOfUse(of version: String, instead brokers: String?, next: RemintCommand) async {
        guard let state = (try? directory.readListing())?.state(of: version) else { return }
        guard state != .revoked else {
            let left = await leak(of: version, instead: brokers).sentence
            return Terminal.error("remint: \(ring.name): \(version) is revoked; \(left)")
        }
        let use = state == .active ? "still signs" : "is still \(state.rawValue)"
        let left =
            (try? await holdings(of: version, instead: brokers).left)
            ?? "an unknown number of live tokens of it is left in the ledger"
        Terminal.error(
            "remint: \(ring.name): \(version) is not revoked and \(use); \(left); fix the error, then: \(next)")
    }

    /// Makes `step`. Where it fails after it changed the ring, it prints which version signs, and the command `next`, which completes
    /// the step.
    ///
    /// - Throws: the error of `step`.
    func reporting<Result>(next: RemintCommand, _ step: () throws -> Result) throws -> Result {
        let before = try? directory.readListing()
        do { return try step() } catch {
            if let sentence = halfDone(since: before, next: next) {
                Terminal.error("remint: \(ring.name): \(sentence)")
            }
            throw error
        }
    }

    /// Names the other versions, of any ring, that hold the key of `version`, which is compromised.
    func warnOfHolders(of version: String) {
        guard let holders = holders(of: version) else {
            return Terminal.error(
                "remint: warning: \(ring.name): the key of \(version) is in no file that can be read, so whether another version holds it too is unknown"
            )
        }
        for holder in holders where holder.version.state.verifies {
            Terminal.error(
                "remint: warning: \(holder) holds the key of \(version) too, so it is compromised as well: \(holder.revocation)"
            )
        }
    }

    /// Names the keys of the ring that its workers cannot load.
    func warnOfDamagedKeys() {
        for error in damagedKeys { Terminal.error("remint: warning: \(ring.name): \(error)") }
    }

    /// Names the file in which the private key of the retired `version` may still be.
    func warnOfLeftKey(of version: String) {
        if let sentence = leftKey(of: version) { Terminal.error("remint: warning: \(ring.name): \(sentence)") }
    }

    /// Returns the algorithm of the ring's keys, where `option` names one or none.
    ///
    /// - Throws: `ValidationError` where a vendor takes another one.
    func algorithm(option: Algorithm?) throws -> Algorithm {
        do { return try algorithm(asked: option) } catch let error as WrongAlgorithm {
            throw ValidationError(error.description)
        }
    }
}
