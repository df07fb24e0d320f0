public import AdapterKit
import Dispatch
import JOSE
public import Keyring
public import Pipeline
import Synchronization

/// Signs in this process: the active key of each ring, spread over the cores, a few of a batch at a time.
public final class LocalSigner: SigningPort {
    private struct Active {
        var keys: [String: SigningKeyReference]
        var versions: [String: [RingKey]]
        var revision = 0
    }

    private let active: Mutex<Active>
    private let lanes: [SigningThread]
    /// The threads for background work: one less than the lanes, with the lowest priority.
    private let background: [SigningThread]
    private var everyLane: [SigningThread] { lanes + background }

    /// A signer with the active keys of `rings` and `lanes` threads.
    public init(_ rings: [KeyRing], lanes count: Int) {
        let keys = rings.compactMap(Self.activeKey)
        active = Mutex(
            Active(
                keys: Dictionary(keys.map { ($0.reference.ring, $0.reference) }) { first, _ in first },
                versions: Dictionary(rings.map { ($0.name, $0.versionsToVerify) }) { first, _ in first }))
        let known = Dictionary(keys.map { ($0.reference, $0.key) }) { first, _ in first }
        lanes = (0..<max(1, count)).map { SigningThread("live.\($0)", keys: known, .userInitiated) }
        background = (0..<max(1, count - 1)).map { SigningThread("background.\($0)", keys: known, .background) }
    }

    /// Returns the version of `ring` that signs now.
    public func activeKey(of ring: String) -> SigningKeyReference? { active.withLock { $0.keys[ring] } }

    /// Returns the keys of `ring` that verify.
    public func verificationKeys(of ring: String) -> [RingKey] { active.withLock { $0.versions[ring] ?? [] } }

    /// The number of changes of the keys so far.
    public var keysRevision: Int? { active.withLock { $0.revision } }

    /// True: the lanes sign one call after the other, and wait for nothing else.
    public var takesCallsAtOnce: Bool { true }

    /// Signs with the active key of `ring` from now on; with none where it has none. Earlier requests are still signed
    /// with their key, until the ring is replaced again, unless that key was revoked: a leaked key signs nothing more.
    /// Another key under the name of the old one signs at once.
    public func replace(_ ring: KeyRing) async {
        let new = Self.activeKey(of: ring)
        let old = activeKey(of: ring.name)
        if let new {
            for lane in everyLane { await lane.add(new.key, for: new.reference) }
        }
        active.withLock { active in
            active.keys[ring.name] = new?.reference
            active.versions[ring.name] = ring.versionsToVerify
            active.revision &+= 1
        }
        let isLeaked = ring.versions.contains { $0.id == old?.version && $0.state == .revoked }
        let kept = [isLeaked ? nil : old, new?.reference].compactMap { $0 }
        for lane in everyLane { await lane.keep(only: kept, of: ring.name) }
    }

    /// Signs nothing more with the ring called `name`, and holds none of its keys.
    public func remove(_ name: String) async {
        active.withLock { active in
            active.keys[name] = nil
            active.versions[name] = nil
            active.revision &+= 1
        }
        for lane in everyLane { await lane.keep(only: [], of: name) }
    }

    /// Holds none of `versions` of the ring called `name` any more, but for the active one.
    func forget(_ versions: Set<String>, of name: String) async {
        let active = activeKey(of: name)
        for lane in everyLane { await lane.forget(versions, of: name, but: active) }
    }

    /// The number of keys that its threads hold, and of rings that it knows.
    var holdings: (keys: Int, rings: Int) {
        get async {
            var keys = 0
            for lane in everyLane { keys += await lane.keyCount }
            return (keys, active.withLock { Set($0.keys.keys).union($0.versions.keys).count })
        }
    }

    static func activeKey(of ring: KeyRing) -> (reference: SigningKeyReference, key: SigningKey)? {
        guard let version = ring.active, let key = version.signingKey else { return nil }
        let reference = SigningKeyReference(
            ring: ring.name, version: version.id, keyID: key.keyID, algorithm: version.algorithm,
            retireAfter: version.retireAfter)
        return (reference, key)
    }

    /// Signs `requests`. Background work leaves a core free for other work on the machine: the broker's client, the
    /// next live batch.
    public func sign(
        _ requests: [SigningRequest], urgency: SigningUrgency
    ) async -> [Result<[UInt8], Rejection>] {
        let lanes = urgency == .background ? background : lanes
        guard requests.count > 1, lanes.count > 1 else {
            return requests.isEmpty ? [] : await lanes[0].sign(requests[...])
        }
        let cursor = SigningCursor(requests.count, lanes: lanes.count)
        return await withTaskGroup(of: [SignedPiece].self) { group in
            for lane in lanes { group.addTask { await lane.sign(requests, by: cursor) } }
            let pieces = await group.reduce(into: []) { $0 += $1 }
            return pieces.sorted { $0.start < $1.start }.flatMap(\.signatures)
        }
    }
}

/// The part of a batch that was handed out to the lanes. Each lane takes the next few requests when it has done its
/// last. All lanes finish together, even where one of their cores has other work.
final class SigningCursor: Sendable {
    private let count: Int
    private let step: Int
    private let next = Atomic(0)

    init(_ count: Int, lanes: Int) {
        self.count = count
        step = max(1, min(32, count / (lanes * 8)))
    }

    /// Returns the next requests to sign; nil where there are none left.
    func take() -> Range<Int>? {
        let start = next.wrappingAdd(step, ordering: .relaxed).oldValue
        return start < count ? start..<min(start + step, count) : nil
    }
}

/// Signatures of requests that follow one another, from number `start` on.
struct SignedPiece: Sendable {
    let start: Int
    let signatures: [Result<[UInt8], Rejection>]
}

extension KeyRing {
    /// The versions that a token may have been signed with. A revoked one counts as nobody's: its key may be anybody's.
    var versionsToVerify: [RingKey] {
        versions.compactMap { version in
            switch version.state {
            case .active: version.verificationKey.map { RingKey($0, version: version.id, signer: .active) }
            case .passive: version.verificationKey.map { RingKey($0, version: version.id, signer: .passive) }
            case .prepared: version.verificationKey.map { RingKey($0, version: version.id, signer: .prepared) }
            case .retired: version.retiredKey.map { RingKey($0, version: version.id, signer: .retired) }
            case .revoked: nil
            }
        }
    }
}
