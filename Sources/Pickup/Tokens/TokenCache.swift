import AdapterKit
import DequeModule

/// The live tokens a gateway knows, by subject key, in bounded memory. A value without a clock.
///
/// It owns no truth: what is not in it is minted anew. So whatever is in the way goes, the oldest first.
struct TokenCache: Sendable {
    private struct Published {
        let key: [UInt8]
        let version: Int64
    }

    private let capacity: Int
    private var tokens: [[UInt8]: HeldToken] = [:]
    private var arrivals: Deque<Published> = []
    /// How much memory the tokens take, in bytes.
    private(set) var bytes = 0

    /// A cache of at most `capacity` bytes.
    init(capacity: Int) { self.capacity = capacity }

    /// How many tokens there are.
    var count: Int { tokens.count }

    /// The newest token of `key`, live or not.
    subscript(key: [UInt8]) -> HeldToken? { tokens[key] }

    /// A token was published.
    ///
    /// - Returns: whether it is newer than what was known.
    @discardableResult
    mutating func put(_ token: HeldToken, for key: [UInt8], at now: UnixTime) -> Bool {
        if let known = tokens[key] {
            guard token.version > known.version else { return false }
            bytes -= known.memory + key.count * 2
        }
        tokens[key] = token
        bytes += token.memory + key.count * 2
        arrivals.append(Published(key: key, version: token.version))
        trim(at: now)
        return true
    }

    /// A subject's tokens were revoked or erased.
    mutating func remove(_ key: [UInt8]) {
        guard let known = tokens.removeValue(forKey: key) else { return }
        bytes -= known.memory + key.count * 2
    }

    /// Forgets what ended, from the oldest on, and what is too much.
    mutating func trim(at now: UnixTime) {
        while let first = arrivals.first {
            let token = tokens[first.key]
            let isCurrent = token?.version == first.version
            let isOver = token.map { $0.expiresAt <= now.seconds } ?? true
            guard !isCurrent || isOver || bytes > capacity else { return }
            arrivals.removeFirst()
            if isCurrent { remove(first.key) }
        }
    }
}
