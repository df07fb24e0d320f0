public import AdapterKit
import JOSE
public import Keyring
public import Pipeline
import Synchronization

/// Signs in this process: the active key of each ring, spread over the cores in contiguous pieces of a batch.
public final class LocalSigner: SigningPort {
    private let active: Mutex<[String: SigningKeyReference]>
    private let lanes: [SigningLane]

    /// A signer with the active keys of `rings` and `lanes` threads.
    public init(_ rings: [KeyRing], lanes count: Int) {
        let keys = rings.compactMap(Self.activeKey)
        active = Mutex(Dictionary(keys.map { ($0.reference.ring, $0.reference) }) { first, _ in first })
        let known = Dictionary(keys.map { ($0.reference, $0.key) }) { first, _ in first }
        lanes = (0..<max(1, count)).map { SigningLane(number: $0, keys: known) }
    }

    public func activeKey(of ring: String) -> SigningKeyReference? { active.withLock { $0[ring] } }

    /// Signs with the active key of `ring` from now on; with none where it has none. What was asked for before is still
    /// signed with the key it was asked for, until the ring is replaced again; another key under the name of the old one
    /// signs at once.
    public func replace(_ ring: KeyRing) async {
        let new = Self.activeKey(of: ring)
        let old = activeKey(of: ring.name)
        if let new {
            for lane in lanes { await lane.add(new.key, for: new.reference) }
        }
        active.withLock { $0[ring.name] = new?.reference }
        for lane in lanes { await lane.keep(only: [old, new?.reference].compactMap { $0 }, of: ring.name) }
    }

    private static func activeKey(of ring: KeyRing) -> (reference: SigningKeyReference, key: SigningKey)? {
        guard let version = ring.active, let key = version.signingKey else { return nil }
        let reference = SigningKeyReference(
            ring: ring.name, version: version.id, keyID: key.keyID, algorithm: version.algorithm,
            retireAfter: version.retireAfter)
        return (reference, key)
    }

    public func sign(_ requests: [SigningRequest]) async -> [Result<[UInt8], Rejection>] {
        guard requests.count > 1, lanes.count > 1 else {
            return requests.isEmpty ? [] : await lanes[0].sign(requests[...])
        }
        let share = (requests.count + lanes.count - 1) / lanes.count
        return await withTaskGroup { group in
            for (number, start) in stride(from: 0, to: requests.count, by: share).enumerated() {
                let piece = requests[start..<min(start + share, requests.count)]
                group.addTask { [lanes] in (number, await lanes[number].sign(piece)) }
            }
            var pieces = [[Result<[UInt8], Rejection>]](repeating: [], count: lanes.count)
            for await (number, signatures) in group { pieces[number] = signatures }
            return Array(pieces.joined())
        }
    }
}
