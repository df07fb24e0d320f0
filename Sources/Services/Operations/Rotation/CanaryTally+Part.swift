extension CanaryTally {
    /// The users of one app, or all of them.
    package struct Part: Sendable, Equatable {
        /// The app; nil for all users together.
        package let app: String?
        /// Users who were asked for.
        package internal(set) var size = 0
        /// Users who hold a token of the new version that the campaign's own event caused.
        package internal(set) var answered = 0
        /// Users who hold a token of the new version that another event caused.
        package internal(set) var superseded = 0
        /// Users whose tokens the vendor rejected.
        package internal(set) var rejections = 0
        /// Users who asked for another token although that of the new version lived.
        package internal(set) var askedAgain = 0
        /// Those of `askedAgain` whose report no token, dead letter or retry answers.
        package internal(set) var unheard = 0
        /// Users whose token may have been refused: those of `rejections` and of `askedAgain`, each once.
        package internal(set) var refused = 0
        /// Users that the vendor does not know any more.
        package internal(set) var gone = 0
        /// Users whose newest token is of another version, although they got one of the new version.
        package internal(set) var regressed = 0

        /// Users who hold no token of the new version and might get one.
        var missing: Int { size - answered - superseded - gone }
        /// Whether most users are gone, so that the others prove nothing.
        var isDeserted: Bool { gone * 2 > size }
    }
}
