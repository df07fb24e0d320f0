import AdapterKit
import ArgumentParser
import Keyring
import Logging
import Operations
import WorkerConfiguration

/// What commands ask of a ring in an operator's words.
extension RingInUse {
    /// - Parameter brokers: instead of the configured ones.
    /// - Throws: `TokensLive`, or what keeps the ledger from being read.
    func requireNoLiveToken(
        of version: String, instead brokers: String?, tolerating tolerance: ClockTolerance
    ) async throws {
        try await requireNoLiveToken(
            of: version, brokers: try configuration.brokers(instead: brokers), tolerating: tolerance,
            logger: .quiet(configuration.log), display: ProgressLine())
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

    /// The algorithm of the ring's keys, where `option` names one or none.
    ///
    /// - Throws: `ValidationError` where a vendor takes another one.
    func algorithm(option: Algorithm?) throws -> Algorithm {
        do { return try algorithm(asked: option) } catch let error as WrongAlgorithm {
            throw ValidationError(error.description)
        }
    }
}
