extension Configuration {
    /// What coalescing and the loop guard go by.
    public struct Admission: Sendable, WithDefaults {
        /// How many recent subjects are remembered; 0 turns admission off.
        public var subjects = 250_000
        /// For how long after a token reports of the same user are taken for the failure it answers.
        public var coalesce = Duration.seconds(2)
        /// How many distinct users of an app must refuse their tokens for it to be suspended.
        public var suspendAfter = 10
        /// What share they must be of the users who were given tokens meanwhile, from 0 to 1.
        public var suspendShare = 0.05
        /// The time within which they do.
        public var suspendWindow = Duration.seconds(600)
        /// How long a suspended app waits for its first probe.
        public var probeWait = Duration.seconds(60)

        /// Every default.
        public init() {}
    }
}

extension Configuration.Admission {
    static let settings: [Setting<Self>] = [
        .integer(
            "subjects", \.subjects, in: 0...100_000_000,
            "How many recent subjects are remembered, at most 160 bytes each; 0 turns coalescing and the loop guard off."
        ),
        .duration(
            "coalesce", \.coalesce, in: .milliseconds(1)...(.seconds(60)), change: .reloads,
            "For how long after a token reports of the same user are taken for the failure it answers."),
        .integer(
            "suspend_after", \.suspendAfter, in: 1...1_000_000, change: .reloads,
            "How many distinct users must refuse their tokens for an app to be suspended."),
        .share(
            "suspend_share", \.suspendShare, in: 0...1, change: .reloads,
            "What share they must be of the users who were given tokens meanwhile."),
        .duration(
            "suspend_window", \.suspendWindow, in: .seconds(1)...(.seconds(86_400)), change: .reloads,
            "The time within which they do."),
        .duration(
            "suspend_probe", \.probeWait, in: .seconds(1)...(.seconds(3600)), change: .reloads,
            """
            After this long one event of a suspended app is let through; where its token is not refused for as long again, the app \
            resumes, else the next wait is twice as long, up to fifteen times the first.
            """),
    ]
}
