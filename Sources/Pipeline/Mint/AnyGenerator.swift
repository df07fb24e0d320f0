/// Lets a generator behind `any` be passed where a concrete one is wanted.
struct AnyGenerator: RandomNumberGenerator, Sendable {
    var base: any RandomNumberGenerator & Sendable
    mutating func next() -> UInt64 { base.next() }
}
