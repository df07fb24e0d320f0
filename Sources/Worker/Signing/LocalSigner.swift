public import AdapterKit
import Dispatch
import JOSE
public import Keyring
public import Pipeline
import Synchronization

/// Signs in this process: the active key of each ring, spread over the cores in contiguous pieces of a batch.
public final class LocalSigner: SigningPort {
    private let active: Mutex<[String: SigningKeyReference]>
    private let lanes: [SigningLane]
    /// One less than there are cores, on threads that give way to all others.
    private let background: [SigningLane]
    private var everyLane: [SigningLane] { lanes + background }

    /// A signer with the active keys of `rings` and `lanes` threads.
    public init(_ rings: [KeyRing], lanes count: Int) {
        let keys = rings.compactMap(Self.activeKey)
        active = Mutex(Dictionary(keys.map { ($0.reference.ring, $0.reference) }) { first, _ in first })
        let known = Dictionary(keys.map { ($0.reference, $0.key) }) { first, _ in first }
        lanes = (0..<max(1, count)).map { SigningLane("live.\($0)", keys: known, .userInitiated) }
        background = (0..<max(1, count - 1)).map { SigningLane("background.\($0)", keys: known, .background) }
    }

    public func activeKey(of ring: String) -> SigningKeyReference? { active.withLock { $0[ring] } }

    /// Its lanes sign one call after the other, and wait for nobody else.
    public var takesCallsAtOnce: Bool { true }

    /// Signs with the active key of `ring` from now on; with none where it has none. What was asked for before is still
    /// signed with the key it was asked for, until the ring is replaced again, unless that was revoked: a leaked key signs
    /// nothing more. Another key under the name of the old one signs at once.
    public func replace(_ ring: KeyRing) async {
        let new = Self.activeKey(of: ring)
        let old = activeKey(of: ring.name)
        if let new {
            for lane in everyLane { await lane.add(new.key, for: new.reference) }
        }
        active.withLock { $0[ring.name] = new?.reference }
        let isLeaked = ring.versions.contains { $0.id == old?.version && $0.state == .revoked }
        let kept = [isLeaked ? nil : old, new?.reference].compactMap { $0 }
        for lane in everyLane { await lane.keep(only: kept, of: ring.name) }
    }

    static func activeKey(of ring: KeyRing) -> (reference: SigningKeyReference, key: SigningKey)? {
        guard let version = ring.active, let key = version.signingKey else { return nil }
        let reference = SigningKeyReference(
            ring: ring.name, version: version.id, keyID: key.keyID, algorithm: version.algorithm,
            retireAfter: version.retireAfter)
        return (reference, key)
    }

    /// Work in the background leaves a core to whoever else is on the machine: the broker's client, the next live batch.
    public func sign(
        _ requests: [SigningRequest], urgency: SigningUrgency
    ) async -> [Result<[UInt8], Rejection>] {
        let lanes = urgency == .background ? background : lanes
        guard requests.count > 1, lanes.count > 1 else {
            return requests.isEmpty ? [] : await lanes[0].sign(requests[...])
        }
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
