import AdapterKit

/// The live tokens a gateway knows, one for each subject, in memory that is bounded with everything that belongs to it. A value
/// without a clock.
///
/// It owns no truth: an unknown token is minted anew. So the token that was published first makes room, and nothing that was
/// replaced leaves a trace. Tokens arrive by two ways: published now (`put`), and out of the topic's past, newest first (`recall`).
/// What comes out of the past is never taken for newer than what is known, and no longer taken once anything was forgotten.
struct TokenCache: Sendable {
    private let capacity: Int
    private var table: TokenTable
    private var wheel = ExpiryWheel()
    private var past = PastSubjects()
    /// The highest version of a live token that was forgotten: a worker may know it, and nobody else does. 0 for none.
    private(set) var forgotten: Int64 = 0

    /// A cache of at most `capacity` bytes.
    init(capacity: Int) {
        self.capacity = capacity
        table = TokenTable()
    }

    /// The number of tokens.
    var count: Int { table.count }

    /// The memory that the tokens take with everything that belongs to them, in bytes.
    var bytes: Int { table.bytes + table.slots * ExpiryWheel.memory + past.bytes }

    /// Whether tokens out of the topic's past are taken.
    var takesPast: Bool { past.isOpen }

    /// The newest token of `key`, live or not.
    subscript(key: [UInt8]) -> HeldToken? {
        table.find(key).map { table.token($0, expiresAt: wheel.end(of: $0)) }
    }

    /// The newest token of `key` without its text, for whoever plans with its times.
    func outline(of key: [UInt8]) -> HeldToken? {
        table.find(key).map { place in
            HeldToken(
                text: [], isSealed: false, version: table.version(place), expiresAt: wheel.end(of: place), recovery: nil
            )
        }
    }

    /// A token was published now.
    ///
    /// - Returns: whether it is newer than what was known.
    @discardableResult
    mutating func put(_ token: HeldToken, for key: [UInt8], at now: UnixTime) -> Bool {
        let known = table.find(key)
        if let known, token.version <= table.version(known) { return false }
        if let known { drop(known) }
        guard token.isLive(at: now) else {
            past.settle(key, within: capacity)
            return true
        }
        insert(token, key, isNewest: true)
        while bytes > capacity, let oldest = table.oldest {
            forget(oldest)
            past.close()
        }
        shrink()
        return true
    }

    /// A subject's tokens were revoked or erased.
    mutating func remove(_ key: [UInt8]) {
        past.settle(key, within: capacity)
        if let known = table.find(key) { forget(known) }
        shrink()
    }

    /// Forgets what ended by `now`.
    mutating func trim(at now: UnixTime) {
        for place in wheel.advance(to: now.seconds) {
            // An older token of the subject may live longer, and is not the newest all the same.
            if past.isOpen { past.settle(table.key(place), within: capacity) }
            table.remove(place)
        }
        shrink()
    }

    // MARK: The topic's past

    /// The topic's past is about to be read.
    mutating func openPast() { past.open() }

    /// The topic's past was read as far as it is wanted.
    mutating func closePast() { past.finish() }

    /// A token of the past was read: older than all that is known of its subject.
    ///
    /// - Returns: whether it is the subject's newest token, and remembered.
    @discardableResult
    mutating func recall(_ token: HeldToken, for key: [UInt8], at now: UnixTime) -> Bool {
        guard past.isOpen, !past.isSettled(key) else { return false }
        let known = table.find(key)
        if let known, token.version <= table.version(known) { return false }
        guard token.isLive(at: now) else {
            past.settle(key, within: capacity)
            return false
        }
        guard bytes + table.cost(of: token, key) <= capacity else {
            past.close()
            return false
        }
        if let known { drop(known) }
        insert(token, key, isNewest: false)
        return true
    }

    /// An erasure of the past was read: whatever is older does not count.
    mutating func recallErasure(of key: [UInt8]) {
        if table.find(key) == nil { past.settle(key, within: capacity) }
    }

    // MARK: Places

    private mutating func insert(_ token: HeldToken, _ key: [UInt8], isNewest: Bool) {
        let place = table.insert(token, key, isNewest: isNewest)
        wheel.insert(place, endingAt: token.expiresAt)
    }

    private mutating func drop(_ place: UInt32) {
        wheel.remove(place)
        table.remove(place)
    }

    private mutating func forget(_ place: UInt32) {
        forgotten = max(forgotten, table.version(place))
        drop(place)
    }

    /// Gives back the memory of places that are empty, where most are.
    private mutating func shrink() {
        guard table.isSparse else { return }
        let (old, ends) = (table, wheel)
        table = TokenTable()
        wheel = ExpiryWheel(at: ends.time)
        old.forEachFromOldest { place in
            let end = ends.end(of: place)
            insert(old.token(place, expiresAt: end), old.key(place), isNewest: true)
        }
    }
}
