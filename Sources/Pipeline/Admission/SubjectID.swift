import AdapterKit

/// A subject of an app as the memory knows it: 128 bits of its key, under a key of this process.
///
/// Two Sip hashes with the standard library's random per-process seed: nobody outside can aim for a collision, and among a
/// million subjects one happens by chance once in 10^26.
struct SubjectID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init(_ subject: Subject, app: String) {
        let key = subject.key(app: app)
        var first = Hasher()
        first.combine(key)
        var second = Hasher()
        second.combine(1)
        second.combine(key)
        high = UInt64(bitPattern: Int64(first.finalize()))
        low = UInt64(bitPattern: Int64(second.finalize()))
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
