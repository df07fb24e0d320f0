package import AdapterKit
package import Pipeline

/// The key that signed a token: the app, the key's version and its ring.
package struct LedgerLabel: Sendable, Hashable {
    /// The app.
    package let app: String
    /// The id of the key's version.
    package let keyID: String
    /// The ring of that version; nil for records from before records named it.
    package let ring: String?

    /// The key `keyID` of `ring`, for `app`.
    package init(app: String, keyID: String, ring: String? = nil) {
        self.app = app
        self.keyID = keyID
        self.ring = ring
    }
}

/// The newest token of each subject in a part of the token topic, read record by record, as a value.
///
/// Of each subject it keeps a hash and the position of its newest token, 40 bytes in a table with open addressing,
/// never the subject itself. The table is created for the largest possible number of subjects, so that it seldom grows.
package struct LedgerTable: Sendable {
    /// 40 bytes: two words of a hash, a version, an offset, an end, and a label's number from 1 on; 0 is an empty
    /// place.
    private struct Slot {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var version: Int64 = 0
        var offset: Int64 = 0
        var expiresAt: UInt32 = 0
        var label: UInt16 = 0
        /// Whether the subject's token was removed. The place stays in use, because other subjects may be behind it.
        var isGone = false
        /// Whether the token answers a challenge, so that nobody can ask for another one in its user's name.
        var isChallengeBound = false
    }

    private let slice: LedgerSlice
    private var slots: [Slot]
    private var used = 0
    private var labels: [LedgerLabel] = []
    private var labelNumbers: [LedgerLabel: UInt16] = [:]
    /// The number of the last record's label, which is nearly always the next one's too.
    private var lastNumber: UInt16?
    /// The number of subjects with a token, live or not.
    package private(set) var subjectCount = 0
    /// Records that are no replacement tokens.
    package private(set) var strangers = 0
    /// Records that claim to be replacement tokens and cannot be read.
    package private(set) var unreadable = 0
    /// The offset of the first record that is no token or cannot be read; nil where there is none.
    private(set) var firstDoubtful: Int64?

    /// The memory of the table, in bytes.
    var bytes: Int { slots.count * MemoryLayout<Slot>.stride }
    /// The memory of a subject in a table that is as full as it gets, in bytes.
    package static let bytesPerSubject = MemoryLayout<Slot>.stride * 5 / 4

    /// An empty table.
    ///
    /// - Parameters:
    ///   - slice: the subjects to count; others are skipped.
    ///   - subjects: the expected maximum of subjects; with more, the table grows by a copy.
    package init(_ slice: LedgerSlice = .all, subjects: Int = 1000) {
        self.slice = slice
        slots = Self.room(for: max(16, subjects))
    }

    /// A token that became its subject's newest.
    package struct Entry {
        /// The app and the key's version.
        package let label: LedgerLabel
        /// The time of issue, in seconds since 1970.
        package let issuedAt: Int64
        /// The end, in seconds since 1970.
        package let expiresAt: Int64
    }

    /// Applies a record of the token topic at the time `now`; a record without a value removes the subject's token.
    ///
    /// - Returns: the token, if it is the newest of its subject so far.
    @discardableResult
    package mutating func take(_ record: RecordBody, offset: Int64, at now: UnixTime) -> Entry? {
        take(LedgerRecord(record, in: slice, at: now), offset: offset)
    }

    /// Takes what was read of a record of the token topic.
    ///
    /// - Returns: the token, where it is the newest of its subject so far.
    package mutating func take(_ record: LedgerRecord, offset: Int64) -> Entry? {
        let hash: SubjectHash, token: LedgerRecord.Token
        switch record {
        case .elsewhere: return nil
        case .stranger:
            strangers += 1
            firstDoubtful = firstDoubtful ?? offset
            return nil
        case .unreadable:
            unreadable += 1
            firstDoubtful = firstDoubtful ?? offset
            return nil
        case .tombstone(let subject):
            remove(subject)
            return nil
        case .token(let subject, let read): (hash, token) = (subject, read)
        }
        guard let label = number(of: token.label) else {
            unreadable += 1
            firstDoubtful = firstDoubtful ?? offset
            return nil
        }
        if (used + 1) * 5 > slots.count * 4 { grow() }
        let place = place(of: hash)
        let isKnown = slots[place].label != 0
        if isKnown, !slots[place].isGone, slots[place].version > token.version { return nil }
        if !isKnown { used += 1 }
        if !isKnown || slots[place].isGone { subjectCount += 1 }
        slots[place] = Slot(
            high: hash.high, low: hash.low, version: token.version, offset: offset,
            expiresAt: UInt32(clamping: token.expiresAt), label: label,
            isChallengeBound: token.isChallengeBound)
        return Entry(label: labels[Int(label) - 1], issuedAt: token.issuedAt, expiresAt: Int64(slots[place].expiresAt))
    }

    /// Returns the end of the token in the record at `offset`, in seconds since 1970; nil where the record is not the
    /// newest of its subject, has expired at `now`, or does not match `filter`.
    package func end(key: [UInt8], offset: Int64, matching filter: LedgerFilter, at now: UnixTime) -> Int64? {
        end(SubjectHash(key), offset: offset, matching: filter, at: now)
    }

    /// The same for a key with the hash `hash`.
    func end(_ hash: SubjectHash, offset: Int64, matching filter: LedgerFilter, at now: UnixTime) -> Int64? {
        guard slice.contains(hash) else { return nil }
        let slot = slots[place(of: hash)]
        guard slot.label != 0, !slot.isGone, slot.offset == offset else { return nil }
        let end = Int64(slot.expiresAt), label = labels[Int(slot.label) - 1]
        guard end > now.seconds, filter.matches(label, expiresAt: end) else { return nil }
        return end
    }

    /// Calls `body` with each subject's label, its newest token's end in seconds since 1970, and whether that token answers a
    /// challenge.
    package func each(_ body: (LedgerLabel, Int64, Bool) -> Void) { each(but: { _ in false }, body) }

    /// Calls `body` with the same of each subject that `isLeftOut` does not exclude.
    func each(but isLeftOut: (SubjectHash) -> Bool, _ body: (LedgerLabel, Int64, Bool) -> Void) {
        for slot in slots where slot.label != 0 && !slot.isGone {
            guard !isLeftOut(SubjectHash(high: slot.high, low: slot.low)) else { continue }
            body(labels[Int(slot.label) - 1], Int64(slot.expiresAt), slot.isChallengeBound)
        }
    }

    /// The newest token of a subject.
    struct NewestToken {
        let label: LedgerLabel
        let version: Int64
        let expiresAt: Int64
        let isChallengeBound: Bool
    }

    /// Returns the newest token of `subject`; nil where it has none.
    func newest(of subject: SubjectHash) -> NewestToken? {
        let slot = slots[place(of: subject)]
        guard slot.label != 0, !slot.isGone else { return nil }
        return NewestToken(
            label: labels[Int(slot.label) - 1], version: slot.version, expiresAt: Int64(slot.expiresAt),
            isChallengeBound: slot.isChallengeBound)
    }

    private mutating func remove(_ hash: SubjectHash) {
        let place = place(of: hash)
        guard slots[place].label != 0, !slots[place].isGone else { return }
        slots[place].isGone = true
        subjectCount -= 1
    }

    /// Returns the place of `hash`, or the empty place for it. There always is an empty place: at most four of five are
    /// used.
    private func place(of hash: SubjectHash) -> Int {
        var place = Int(hash.low.multipliedFullWidth(by: UInt64(slots.count)).high)
        while slots[place].label != 0, slots[place].low != hash.low || slots[place].high != hash.high {
            place += 1
            if place == slots.count { place = 0 }
        }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = Self.room(for: used * 2)
        used = 0
        for slot in old where slot.label != 0 && !slot.isGone {
            slots[place(of: SubjectHash(high: slot.high, low: slot.low))] = slot
            used += 1
        }
    }

    private static func room(for subjects: Int) -> [Slot] { Array(repeating: Slot(), count: subjects / 4 * 5 + 8) }

    private mutating func number(of label: TokenLabel) -> UInt16? {
        if let lastNumber {
            let last = labels[Int(lastNumber) - 1]
            if label.isSame(asApp: last.app, keyID: last.keyID, ring: last.ring) { return lastNumber }
        }
        lastNumber = number(of: LedgerLabel(app: label.app, keyID: label.keyID, ring: label.keyRing))
        return lastNumber
    }

    private mutating func number(of label: LedgerLabel) -> UInt16? {
        if let number = labelNumbers[label] { return number }
        guard let number = UInt16(exactly: labels.count + 1) else { return nil }
        labels.append(label)
        labelNumbers[label] = number
        return number
    }
}
