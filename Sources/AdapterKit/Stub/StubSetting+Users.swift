extension StubSetting {
    /// How a stub vendor stands to a user.
    public enum Standing: Sendable, Equatable {
        /// It has the user.
        case known
        /// It had the user, who was deleted.
        case gone
        /// It has not met the user.
        case unknown
    }

    /// How the vendor stands to `user`. Ids are compared byte for byte, which the sets' own `contains` would not do.
    public func standing(of user: String) -> Standing {
        if gone.contains(where: user.hasSameBytes) { return .gone }
        return unknown.contains(where: user.hasSameBytes) ? .unknown : .known
    }
}
