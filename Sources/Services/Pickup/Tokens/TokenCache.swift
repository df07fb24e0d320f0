import AdapterKit
import Pipeline

/// The live tokens that a gateway knows, one for each subject, in memory with a limit that covers everything that
/// belongs to them. A value without a clock.
///
/// The cache owns no truth: an unknown token is minted again. So the token that was published first makes room, and a
/// replaced token leaves no trace. Tokens arrive in two ways: published now (`put`), and from the topic's past, newest
/// first (`recall`). A token of the past never counts as newer than a known one, and is no longer taken once anything
/// was forgotten.
///
/// A subject's tokens are in several partitions where partitions were added to the topic. So a token of the past counts
/// only from the version down to which every partition was read (`certain`). A token below it may not be its subject's
/// newest, and counts as unknown.
struct TokenCache: Sendable {
    private let capacity: Int
    private var table: TokenTable
    private var wheel = ExpiryWheel()
    private var past = PastSubjects()
    /// The highest version of a forgotten live token, which a worker may know; 0 for none.
    private(set) var forgotten: Int64 = 0
    /// The version from which on a token of the past is its subject's newest: no partition can hold a newer unread one.
    private(set) var certain: Int64 = .min

    /// A cache of at most `capacity` bytes.
    init(capacity: Int) {
        self.capacity = capacity
        table = TokenTable()
    }

    var count: Int { table.count }

    /// The memory of the tokens with everything that belongs to them, in bytes.
    var bytes: Int { table.bytes + table.slots * ExpiryWheel.memory + past.bytes }

    /// Whether tokens out of the topic's past are taken.
    var takesPast: Bool { past.isOpen }

    /// Returns the newest token of `key`, live or not; nil while a newer one may be unread.
    subscript(key: [UInt8]) -> HeldToken? {
        find(key).map { table.token($0, expiresAt: wheel.end(of: $0)) }
    }

    /// Returns the highest version that was read of `key`, even while a newer one may be unread; nil where none was.
    func highestVersion(of key: [UInt8]) -> Int64? { table.find(key).map { table.version($0) } }

    /// Returns the newest token of `key` without its text, for plans by its times.
    func outline(of key: [UInt8]) -> HeldToken? {
        find(key).map { place in
            HeldToken(
                text: [], isSealed: false, version: table.version(place), expiresAt: wheel.end(of: place), recovery: nil
            )
        }
    }

    /// Adds a token that was published now.
    ///
    /// - Returns: whether the token is newer than the known one.
    @discardableResult
    mutating func put(_ token: HeldToken, for key: [UInt8], at now: UnixTime) -> Bool {
        let known = table.find(key)
        // A version that a wrong clock admitted outdates no token once the clock is set.
        if let known, token.version <= table.version(known),
            ReadBackBound.admits(version: table.version(known), at: now)
        {
            return false
        }
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

    /// Removes a subject's tokens, which were revoked or erased.
    mutating func remove(_ key: [UInt8]) {
        past.settle(key, within: capacity)
        if let known = table.find(key) { forget(known) }
        shrink()
    }

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

    /// Begins the reading of the topic's past. None of it counts before `settlePast` is called.
    mutating func openPast() {
        past.open()
        if past.isOpen { certain = .max }
    }

    /// Ends the reading of the topic's past, which was read as far as needed.
    mutating func closePast() { past.finish() }

    /// Notes that every partition was read back to the version `version`: from there on tokens of the past count.
    /// Nothing changes where the past is closed: some of the records that were read were not taken.
    mutating func settlePast(from version: Int64) { if past.isOpen { certain = min(certain, version) } }

    /// Returns whether the token of `key` is a token of the past that counts now, and did not while tokens counted from
    /// `certain` on.
    func hasBecomeCertain(_ key: [UInt8], since certain: Int64) -> Bool {
        table.find(key).map { table.isPast($0) && (self.certain..<certain).contains(table.version($0)) } ?? false
    }

    /// Adds a token of the past: its partition's newest token of the subject that was not known.
    ///
    /// - Returns: whether the token is newer than the known one of the subject, and was stored.
    @discardableResult
    mutating func recall(_ token: HeldToken, for key: [UInt8], at now: UnixTime) -> Bool {
        guard past.isOpen, !past.isSettled(key) else { return false }
        let known = table.find(key)
        if let known, token.version <= table.version(known) { return false }
        let isPast = known.map { table.isPast($0) } ?? true
        // The older token came from another partition, and never counts, whatever happens to the newer one.
        if let known, isPast || token.isLive(at: now) { drop(known) }
        guard token.isLive(at: now) else {
            past.settle(key, within: capacity)
            return false
        }
        guard bytes + table.cost(of: token, key) <= capacity else {
            past.close()
            return false
        }
        // A token that is newer than one published now is the newest.
        insert(token, key, isNewest: false, isPast: isPast)
        return true
    }

    /// Applies an erasure of the past: no token of the past counts that may be older.
    ///
    /// - Parameter version: the highest version that an older token may have.
    mutating func recallErasure(of key: [UInt8], upTo version: Int64 = .max) {
        if let known = table.find(key) {
            guard table.isPast(known), table.version(known) <= version else { return }
            drop(known)
        }
        past.settle(key, within: capacity)
    }

    /// Forgets the tokens of the past that will never count: no more of the past is read.
    private mutating func dropUncertain() {
        guard certain > .min else { return }
        var uncertain: [UInt32] = []
        table.forEachFromOldest { if table.isPast($0), table.version($0) < certain { uncertain.append($0) } }
        for place in uncertain { drop(place) }
        certain = .min
    }

    // MARK: Places

    /// Returns the place of the newest token of `key`, unless a newer one may be unread.
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

    /// Frees the memory of empty places, where most are empty.
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

/// The subjects whose older tokens do not count while the gateway reads the token topic's past: their newest token
/// expired, or was erased.
///
/// The set is bounded: where there are too many subjects, no more of the past is taken.
private struct PastSubjects: Sendable {
    /// The memory of one subject in the set, in bytes.
    private static let memory = 24
    /// The limit of the set: a cache's memory divided by this.
    private static let share = 16

    private var subjects: Set<Int> = []
    private(set) var isOpen = true
    private var isOver = false

    /// The memory of the set, in bytes.
    var bytes: Int { subjects.count * Self.memory }

    /// Begins the reading of the past, unless some of it was forgotten already.
    mutating func open() { isOpen = !isOver }

    /// Ends the reading of the past.
    mutating func finish() {
        isOpen = false
        subjects = []
    }

    /// Stops taking tokens of the past for good: something was forgotten, and an older token must not count as a newer
    /// one.
    mutating func close() {
        isOver = true
        finish()
    }

    /// Notes that no older token of `key` counts.
    mutating func settle(_ key: [UInt8], within capacity: Int) {
        guard isOpen else { return }
        // A subject with the hash of another one gets a new token.
        subjects.insert(key.hashValue)
        if bytes > capacity / Self.share { close() }
    }

    func isSettled(_ key: [UInt8]) -> Bool { !subjects.isEmpty && subjects.contains(key.hashValue) }
}
