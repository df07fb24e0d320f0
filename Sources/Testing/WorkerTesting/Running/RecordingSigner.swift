import AdapterKit
import Pipeline
import Synchronization

/// Signs with another signer, and keeps the last signed input: only its recipient could read the claims of a sealed
/// token.
final class RecordingSigner: SigningPort {
    private let signer: any SigningPort
    private let last = Mutex<[UInt8]?>(nil)

    init(_ signer: any SigningPort) { self.signer = signer }

    /// The last token, in compact form; nil for none.
    var lastToken: [UInt8]? { last.withLock { $0 } }

    func activeKey(of ring: String) -> SigningKeyReference? { signer.activeKey(of: ring) }

    func verificationKeys(of ring: String) -> [RingKey] { signer.verificationKeys(of: ring) }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        let signatures = await signer.sign(requests, urgency: urgency)
        for (request, signature) in zip(requests, signatures) {
            guard case .success(let bytes) = signature else { continue }
            last.withLock { $0 = request.input.token(signature: bytes) }
        }
        return signatures
    }
}
