import AdapterKit
import Dispatch
import Pipeline

/// Verifies signatures before they are used, on a thread of its own: a verification can take as long as a signature.
actor SignatureCheck {
    private let executor: QueueExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ name: String) { executor = QueueExecutor(label: "remint.checking.\(name)", .userInitiated) }

    /// Returns the results of `requests`, and the problems of their answers.
    ///
    /// - Parameter known: the signer's rings by name, as it published them at several times; one of them must match.
    func results(
        of requests: ArraySlice<SigningRequest>, _ answers: [SignerFrame.Answer], _ known: [[String: TrustedRing]]
    ) -> (results: [Result<[UInt8], Rejection>], troubles: [SignerTrouble: String]) {
        guard answers.count == requests.count else {
            let text = "gave \(answers.count.of("answer")) where \(requests.count.of("was", "were")) asked for"
            return (requests.map { _ in .failure(Rejection(.mintFailed, "the signer \(text)")) }, [.count: text])
        }
        var troubles: [SignerTrouble: String] = [:]
        let results = zip(requests, answers).map { request, answer -> Result<[UInt8], Rejection> in
            let name = "the version \(request.key.version) of \(request.key.ring)"
            switch answer {
            case .keyUnavailable:
                return .failure(Rejection(.keyUnavailable, "\(name) is no longer signed with, the signer reports"))
            case .failed:
                troubles[.failed] = "could not sign with \(name)"
                return .failure(Rejection(.mintFailed, "the signer could not sign with \(name)"))
            case .refused(let violation):
                let text = "does not sign with \(name): \(violation)"
                troubles[.policy] = "\(text); fix keys.\(request.key.ring).policy of its configuration, or the app's"
                return .failure(Rejection(.mintFailed, "the signer \(text)"))
            case .signature(let bytes):
                if known.contains(where: { $0[request.key.ring]?.isRight(bytes, for: request) == true }) {
                    return .success(bytes)
                }
                troubles[.signature] = "gave a signature that is not one of \(name)"
                return .failure(Rejection(.mintFailed, "the signer's signature is not one of \(name)"))
            }
        }
        return (results, troubles)
    }
}
