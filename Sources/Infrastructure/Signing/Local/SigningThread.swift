import AdapterKit
import Dispatch
@_spi(Signing) import JOSE
import Pipeline

/// Signs on a thread of its own, one request after the other: the signatures' time is never taken from the cooperative
/// pool, where it would hold up everything else.
actor SigningThread {
    private let executor: QueueExecutor
    private var keys: [SigningKeyReference: SigningKey]
    /// The signers that libcrypto set up, by key; they belong to this lane's thread.
    private var signers: [SigningKeyReference: Signer] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ name: String, keys: [SigningKeyReference: SigningKey], _ quality: DispatchQoS) {
        executor = QueueExecutor(label: "remint.signing.\(name)", quality)
        self.keys = keys
    }

    /// Signs `requests`, and returns the signatures in their order.
    func sign(_ requests: ArraySlice<SigningRequest>) -> [Result<[UInt8], Rejection>] {
        requests.map { request in
            do throws(Rejection) { return .success(try sign(request)) } catch { return .failure(error) }
        }
    }

    /// Signs those of `requests` that `cursor` assigns to this thread.
    func sign(_ requests: [SigningRequest], by cursor: SigningCursor) -> [SignedPiece] {
        var pieces: [SignedPiece] = []
        while let range = cursor.take() {
            pieces.append(SignedPiece(start: range.lowerBound, signatures: sign(requests[range])))
        }
        return pieces
    }

    /// The number of keys that the thread holds.
    var keyCount: Int { keys.count }

    /// Adds `key`, in place of another one of that name.
    func add(_ key: SigningKey, for reference: SigningKeyReference) {
        keys[reference] = key
        signers[reference] = nil
    }

    /// Forgets every key of `ring` but these.
    func keep(only references: [SigningKeyReference], of ring: String) {
        keys = keys.filter { $0.key.ring != ring || references.contains($0.key) }
        signers = signers.filter { keys[$0.key] != nil }
    }

    /// Forgets the keys of `versions` of `ring`, but for `kept`.
    func forget(_ versions: Set<String>, of ring: String, but kept: SigningKeyReference?) {
        keys = keys.filter { $0.key.ring != ring || $0.key == kept || !versions.contains($0.key.version) }
        signers = signers.filter { keys[$0.key] != nil }
    }

    private func sign(_ request: SigningRequest) throws(Rejection) -> [UInt8] {
        do throws(JOSEError) { return try signer(for: request.key).sign(request.input) } catch {
            throw Rejection(error.code == .noMatchingKey ? .keyUnavailable : .mintFailed, error.message)
        }
    }

    private func signer(for key: SigningKeyReference) throws(JOSEError) -> Signer {
        if let signer = signers[key] { return signer }
        guard let signingKey = keys[key] else {
            throw JOSEError(.noMatchingKey, "the version \(key.version) of \(key.ring) does not sign any more")
        }
        let signer = try Signer(signingKey)
        signers[key] = signer
        return signer
    }
}

/// Runs an actor on a dispatch queue.
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String, _ quality: DispatchQoS) { queue = DispatchQueue(label: label, qos: quality) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
