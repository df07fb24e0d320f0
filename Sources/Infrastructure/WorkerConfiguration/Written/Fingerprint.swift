/// A fingerprint of values that were read; it differs where any of them does. It has no meaning outside this process,
/// and reveals nothing about the values.
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let value: Int

    /// The fingerprint of nothing.
    public init() { value = 0 }

    init(_ hasher: Hasher) { value = hasher.finalize() }

    /// Of `value`.
    public init(of value: some Hashable) { self.value = value.hashValue }

    public var description: String { "fingerprint" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
