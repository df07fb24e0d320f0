import Pipeline
import Signing
import Wiring

// MARK: Signers

extension WorkerService {
    /// The time that a signer gets before the first event is taken, if it starts together with the worker. Without
    /// keys, events only wait and use up attempts.
    static let keyTimeout = Duration.seconds(5)

    func signers(_ metrics: WorkerMetrics) -> [SignerProcess] {
        configuration.signers.sorted { $0.key < $1.key }.map { socket, wanted in
            SignerProcess(
                socket: socket, wanted: wanted, problems: keyProblems, metrics: metrics.signers, lanes: signingLanes,
                logger: logger)
        }
    }

    var keyProblems: KeyProblems { { [status] in status.setKeys($0, of: $1) } }

    func route(_ local: LocalSigner, _ signers: [SignerProcess]) -> any SigningPort {
        guard !signers.isEmpty else { return local }
        let routes = signers.flatMap { signer in signer.wanted.keys.map { ($0, signer) } }
        return RoutedSigner(local: local, others: Dictionary(routes) { first, _ in first })
    }
}
