extension Configuration {
    /// The settings of coalescing, the loop guard and suspensions.
    public struct Admission: Sendable, WithDefaults {
        /// The number of recent subjects that are remembered; 0 turns admission off.
        public var subjects = 250_000
        /// The time after a token for which reports of the same user count as caused by the failure that it answers.
        public var coalesce = Duration.seconds(2)
        /// The minimum number of distinct users whose tokens the vendor refuses, for the events of all users to wait.
        public var suspendAfter = 20
        /// The share they must be of the users who were given tokens meanwhile, from 0 to 1.
        public var suspendShare = 0.5
        /// The time in which users are counted.
        public var suspendWindow = Duration.seconds(600)
        /// The age a user's token must have for the user to count.
        public var suspendMinimumAge = Duration.seconds(60)
        /// A suspended app's wait for its first probe.
        public var probeWait = Duration.seconds(60)

        /// The time after a token for which a report gets no other token; zero where nothing is coalesced.
        public var coalescing: Duration { subjects > 0 ? coalesce : .zero }

        /// Every default.
        public init() {}
    }
}

extension Configuration.Admission {
    static let section = SectionDescription(
        "admission",
        """
        One failure costs one token. The workers suspend an app if the vendor refuses, because of the key, the tokens \
        of at least suspend_after users, and of at least the share suspend_share of the users who got tokens within \
        suspend_window.
        """, keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        .integer(
            "subjects", \.subjects, in: 0...100_000_000,
            "How many recent subjects are remembered, at most 160 bytes each; 0 turns coalescing and the loop guard off."
        ),
        coalesce,
        .integer(
            "suspend_after", \.suspendAfter, in: 1...1_000_000, change: .reloads,
            """
            Minimum number of users whose tokens the vendor refuses because of the key, for all events of the app to \
            wait. If fewer users got tokens in the window, and the vendor refuses the tokens of all of them, only \
            these users' events wait.
            """),
        .share(
            "suspend_share", \.suspendShare, in: 0...1, change: .reloads,
            "Minimum share of these users among the users who got tokens in the window."),
        .duration(
            "suspend_window", \.suspendWindow, in: .seconds(1)...(.seconds(86_400)), change: .reloads,
            "The time in which users are counted."),
        .duration(
            "suspend_min_age", \.suspendMinimumAge, in: .seconds(1)...(.seconds(3600)), change: .reloads,
            "Minimum age of a user's token for the user to count; at most half of suspend_window."),
        probe,
    ]

    static let coalesce: Setting<Self> = .duration(
        "coalesce", \.coalesce, in: .milliseconds(1)...(.seconds(60)), change: .reloads,
        "For how long after a token reports of the same user are taken for the failure it answers.")

    static let probe: Setting<Self> = .duration(
        "suspend_probe", \.probeWait, in: .seconds(1)...(.seconds(3600)), change: .reloads,
        """
        After this long one event of a suspended app is admitted; if its token is not refused for as long again, the app \
        resumes, else the next wait is twice as long, up to fifteen times the first. A user who refused a token is admitted \
        only after two waits without another user.
        """)
}
