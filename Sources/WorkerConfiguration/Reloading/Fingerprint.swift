/// Stands for something that was read: another one where any of it differs. It says nothing beyond this process, and shows nothing of
/// what it stands for.
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    private let value: Int

    /// Of nothing.
    public init() { value = 0 }

    init(_ hasher: Hasher) { value = hasher.finalize() }

    /// Of `value`.
    public init(of value: some Hashable) { self.value = value.hashValue }

    public var description: String { "fingerprint" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
