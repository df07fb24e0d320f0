import AdapterKit

/// The id of an app's subject in memory: a 128-bit hash of the subject key, with a seed of this process.
///
/// A Sip hash with the standard library's random per-process seed, finished in two ways. No outsider can cause a collision on purpose.
/// Among a million subjects, one happens by chance once in 10^26.
struct SubjectID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    /// Creates the id of the subject with the subject key `key`.
    init(key: [UInt8]) {
        var first = Hasher()
        key.withUnsafeBytes { first.combine(bytes: $0) }
        var second = first
        second.combine(1)
        high = UInt64(bitPattern: Int64(first.finalize()))
        low = UInt64(bitPattern: Int64(second.finalize()))
    }

    /// Creates the id of `subject` of `app`. A user with a challenge has the same id for every nonce.
    init(_ subject: Subject, app: String) { self.init(key: subject.withoutChallenge.key(app: app)) }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
