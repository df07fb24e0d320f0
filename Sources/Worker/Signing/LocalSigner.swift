public import AdapterKit
import JOSE
public import Keyring
public import Pipeline

/// Signs in this process: the active key of each ring, spread over the cores in contiguous pieces of a batch.
public struct LocalSigner: SigningPort {
    private let active: [String: SigningKeyReference]
    private let lanes: [SigningLane]

    /// A signer with the active keys of `rings` and `lanes` threads.
    public init(_ rings: [KeyRing], lanes count: Int) {
        var active: [String: SigningKeyReference] = [:]
        var keys: [SigningKeyReference: SigningKey] = [:]
        for ring in rings {
            guard let version = ring.active, let key = version.signingKey else { continue }
            let reference = SigningKeyReference(
                ring: ring.name, version: version.id, keyID: key.keyID, algorithm: version.algorithm,
                retireAfter: version.retireAfter)
            active[ring.name] = reference
            keys[reference] = key
        }
        self.active = active
        lanes = (0..<max(1, count)).map { SigningLane(number: $0, keys: keys) }
    }

    public func activeKey(of ring: String) -> SigningKeyReference? { active[ring] }

    public func sign(_ requests: [SigningRequest]) async -> [Result<[UInt8], Rejection>] {
        guard requests.count > 1, lanes.count > 1 else { return await lanes[0].sign(requests[...]) }
        let share = (requests.count + lanes.count - 1) / lanes.count
        return await withTaskGroup { group in
            for (number, start) in stride(from: 0, to: requests.count, by: share).enumerated() {
                let piece = requests[start..<min(start + share, requests.count)]
                group.addTask { (number, await lanes[number].sign(piece)) }
            }
            var pieces = [[Result<[UInt8], Rejection>]](repeating: [], count: lanes.count)
            for await (number, signatures) in group { pieces[number] = signatures }
            return Array(pieces.joined())
        }
    }
}
