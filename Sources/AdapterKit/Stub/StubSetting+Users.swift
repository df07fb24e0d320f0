extension StubSetting {
    /// A user's standing with a stub vendor.
    public enum Standing: Sendable, Equatable {
        /// It has the user.
        case known
        /// It had the user, who was deleted.
        case gone
        /// It has not met the user.
        case unknown
    }

    /// Returns the standing of `user` with the vendor. Ids are compared byte for byte, which the sets' own `contains`
    /// would not do.
    public func standing(of user: String) -> Standing {
        if gone.contains(where: user.hasSameBytes) { return .gone }
        return unknown.contains(where: user.hasSameBytes) ? .unknown : .known
    }
}
