/// How long a vendor's tokens may live.
public struct LifetimeBounds: Sendable, Equatable {
    /// What is taken where `apps.*.lifetime` is not set, in seconds.
    public let standard: Int64
    /// What is accepted, in seconds.
    public let allowed: ClosedRange<Int64>

    /// `standard` seconds unless configured, and `allowed` whatever is configured.
    public init(standard: Int64, allowed: ClosedRange<Int64>) {
        self.standard = standard
        self.allowed = allowed
    }
}
