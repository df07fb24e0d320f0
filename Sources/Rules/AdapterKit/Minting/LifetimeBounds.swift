/// The bounds on the lifetime of a vendor's tokens.
public struct LifetimeBounds: Sendable, Equatable {
    /// The lifetime where `apps.*.lifetime` is not set, in seconds.
    public let standard: Int64
    /// The lifetimes that the configuration accepts, in seconds.
    public let allowed: ClosedRange<Int64>

    /// `standard` seconds unless configured, and `allowed` whatever is configured.
    public init(standard: Int64, allowed: ClosedRange<Int64>) {
        self.standard = standard
        self.allowed = allowed
    }
}
