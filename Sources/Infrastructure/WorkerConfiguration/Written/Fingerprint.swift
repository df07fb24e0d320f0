/// A fingerprint of values that were read; it differs where any of them does. It has no meaning outside this process,
/// and reveals nothing about the values.
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let value: Int

    /// The fingerprint of nothing.
    public init() { value = 0 }

    init(_ hasher: Hasher) { value = hasher.finalize() }

    /// Of `value`.
    public init(of value: some Hashable) { self.value = value.hashValue }

    /// A stand-in: the fingerprint may be of a secret.
    public var description: String { "fingerprint" }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
