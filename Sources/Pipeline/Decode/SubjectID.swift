import AdapterKit

/// A subject of an app as the memory knows it: 128 bits of its key, under a key of this process.
///
/// Two Sip hashes with the standard library's random per-process seed: nobody outside can aim for a collision, and among a
/// million subjects one happens by chance once in 10^26.
struct SubjectID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    /// The subject with the subject key `key`.
    init(key: [UInt8]) {
        var first = Hasher()
        var second = Hasher()
        second.combine(1)
        key.withUnsafeBytes { bytes in
            first.combine(bytes: bytes)
            second.combine(bytes: bytes)
        }
        high = UInt64(bitPattern: Int64(first.finalize()))
        low = UInt64(bitPattern: Int64(second.finalize()))
    }

    /// `subject` of `app`. A challenge's user is one user, whatever the nonce.
    init(_ subject: Subject, app: String) { self.init(key: subject.withoutChallenge.key(app: app)) }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
