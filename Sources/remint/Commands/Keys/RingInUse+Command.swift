import AdapterKit
import ArgumentParser
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

    /// The algorithm of the ring's keys, where `option` names one or none.
    ///
    /// - Throws: `ValidationError` where a vendor takes another one.
    func algorithm(option: Algorithm?) throws -> Algorithm {
        do { return try algorithm(asked: option) } catch let error as WrongAlgorithm {
            throw ValidationError(error.description)
        }
    }
}
