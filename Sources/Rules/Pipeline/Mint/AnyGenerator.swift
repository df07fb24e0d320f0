/// A generator that wraps an `any` generator for functions that need a concrete type.
struct AnyGenerator: RandomNumberGenerator, Sendable {
    var base: any RandomNumberGenerator & Sendable
    mutating func next() -> UInt64 { base.next() }
}
