import AdapterKit

/// The live tokens a gateway knows, one for each subject, in memory that is bounded with everything that belongs to it. A value
/// without a clock.
///
/// It owns no truth: an unknown token is minted anew. So the token that was published first makes room, and nothing that was
/// replaced leaves a trace. Tokens arrive by two ways: published now (`put`), and out of the topic's past, newest first (`recall`).
/// What comes out of the past is never taken for newer than what is known, and no longer taken once anything was forgotten.
///
/// A subject's tokens are in several partitions where partitions were added to the topic. So a token of the past counts only from the
/// version on that the past was read back to everywhere (`certain`): what is below may not be its subject's newest, and is as good
/// as unknown.
struct TokenCache: Sendable {
    private let capacity: Int
    private var table: TokenTable
    private var wheel = ExpiryWheel()
    private var past = PastSubjects()
    /// The highest version of a live token that was forgotten: a worker may know it, and nobody else does. 0 for none.
    private(set) var forgotten: Int64 = 0
    /// The version from which on a token of the past is its subject's newest: no partition can hold a newer one that was not read.
    private(set) var certain: Int64 = .min

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

    /// The newest token of `key`, live or not; nil while a newer one may be unread.
    subscript(key: [UInt8]) -> HeldToken? {
        find(key).map { table.token($0, expiresAt: wheel.end(of: $0)) }
    }

    /// The highest version that was read of `key`, also while a newer one may be unread; nil where none was.
    func highestVersion(of key: [UInt8]) -> Int64? { table.find(key).map { table.version($0) } }

    /// The newest token of `key` without its text, for whoever plans with its times.
    func outline(of key: [UInt8]) -> HeldToken? {
        find(key).map { place in
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
        insert(token, key, isNewest: true, isPast: false)
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
        if !past.isOpen { dropUncertain() }
        shrink()
    }

    // MARK: The topic's past

    /// The topic's past is about to be read. None of it counts before `settlePast` says so.
    mutating func openPast() {
        past.open()
        if past.isOpen { certain = .max }
    }

    /// The topic's past was read as far as it is wanted.
    mutating func closePast() { past.finish() }

    /// The past was read back to the version `version` in every partition: from there on its tokens count. Not where the past is closed:
    /// some of what was read was not taken.
    mutating func settlePast(from version: Int64) { if past.isOpen { certain = min(certain, version) } }

    /// Whether the token of `key` is one of the past that counts, and did not before it counted from `certain` on.
    func hasBecomeCertain(_ key: [UInt8], since certain: Int64) -> Bool {
        table.find(key).map { table.isPast($0) && (self.certain..<certain).contains(table.version($0)) } ?? false
    }

    /// A token of the past was read. Of its partition it is the subject's newest one that was not known.
    ///
    /// - Returns: whether it is newer than what was known of the subject, and remembered.
    @discardableResult
    mutating func recall(_ token: HeldToken, for key: [UInt8], at now: UnixTime) -> Bool {
        guard past.isOpen, !past.isSettled(key) else { return false }
        let known = table.find(key)
        if let known, token.version <= table.version(known) { return false }
        let isPast = known.map { table.isPast($0) } ?? true
        // What is older came out of another partition, and does not count whatever becomes of the newer one.
        if let known, isPast || token.isLive(at: now) { drop(known) }
        guard token.isLive(at: now) else {
            past.settle(key, within: capacity)
            return false
        }
        guard bytes + table.cost(of: token, key) <= capacity else {
            past.close()
            return false
        }
        // What is newer than a token that was published now is the newest.
        insert(token, key, isNewest: false, isPast: isPast)
        return true
    }

    /// An erasure of the past was read: nothing of the past counts that may be older.
    ///
    /// - Parameter version: the highest version that an older token may have.
    mutating func recallErasure(of key: [UInt8], upTo version: Int64 = .max) {
        if let known = table.find(key) {
            guard table.isPast(known), table.version(known) <= version else { return }
            drop(known)
        }
        past.settle(key, within: capacity)
    }

    /// Forgets the tokens of the past that never count: the past is not read any further.
    private mutating func dropUncertain() {
        guard certain > .min else { return }
        var uncertain: [UInt32] = []
        table.forEachFromOldest { if table.isPast($0), table.version($0) < certain { uncertain.append($0) } }
        for place in uncertain { drop(place) }
        certain = .min
    }

    // MARK: Places

    /// The place of the newest token of `key`, unless a newer one may be unread.
    private func find(_ key: [UInt8]) -> UInt32? {
        table.find(key).flatMap { table.isPast($0) && table.version($0) < certain ? nil : $0 }
    }

    private mutating func insert(_ token: HeldToken, _ key: [UInt8], isNewest: Bool, isPast: Bool) {
        let place = table.insert(token, key, isNewest: isNewest, isPast: isPast)
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
            insert(old.token(place, expiresAt: end), old.key(place), isNewest: true, isPast: old.isPast(place))
        }
    }
}
