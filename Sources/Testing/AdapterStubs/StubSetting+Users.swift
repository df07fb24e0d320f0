import AdapterKit

extension StubSetting {
    /// A user's standing with a stub vendor.
    public enum Standing: Sendable, Equatable {
        /// The vendor has the user.
        case known
        /// The vendor had the user, who was deleted.
        case gone
        /// The vendor has never had the user.
        case unknown
    }

    /// Returns the standing of `user` with the vendor. Ids are compared byte for byte, which the sets' own `contains`
    /// would not do.
    public func standing(of user: String) -> Standing {
        if gone.contains(where: user.hasSameBytes) { return .gone }
        return unknown.contains(where: user.hasSameBytes) ? .unknown : .known
    }
}
