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
        /// A suspended app's wait for its first probes.
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
        Limits on repeated tokens, and suspensions of apps. One failure gets one token. The workers suspend an app if \
        the vendor refuses the tokens of many users because of the key. These are at least suspend_after users, and at \
        least the share suspend_share of the users who got tokens within suspend_window.
        """, keys: settings.map(\.description))

    static let settings: [Setting<Self>] = [
        .integer(
            "subjects", \.subjects, in: 0...100_000_000,
            """
            Maximum number of recent subjects (users of tokens) that the worker remembers, at most 160 bytes each. 0 \
            turns off coalescing (one token for all reports of a failure) and the loop guard (the limit on repeated \
            tokens).
            """),
        coalesce,
        .integer(
            "suspend_after", \.suspendAfter, in: 1...1_000_000, change: .reloads,
            """
            Minimum number of users whose tokens the vendor refuses because of the key, for all events of the app to \
            wait. If fewer users got tokens within suspend_window, and the vendor refuses the tokens of all of them, \
            only these users' events wait.
            """),
        .share(
            "suspend_share", \.suspendShare, in: 0...1, change: .reloads,
            """
            Minimum share of users whose tokens the vendor refuses, among the users who got tokens within \
            suspend_window, for all events of the app to wait.
            """),
        .duration(
            "suspend_window", \.suspendWindow, in: .seconds(1)...(.seconds(86_400)), change: .reloads,
            "Length of the time window in which the workers count the users for a suspension."),
        .duration(
            "suspend_min_age", \.suspendMinimumAge, in: .seconds(1)...(.seconds(3600)), change: .reloads,
            """
            Minimum age of a user's token, for the workers to count the user for a suspension. The value must be at \
            most half of suspend_window.
            """),
        probe,
    ]

    static let coalesce: Setting<Self> = .duration(
        "coalesce", \.coalesce, in: .milliseconds(1)...(.seconds(60)), change: .reloads,
        "Time after a new token in which further reports of its user count as reports of the same failure.")

    static let probe: Setting<Self> = .duration(
        "suspend_probe", \.probeWait, in: .seconds(1)...(.seconds(3600)), change: .reloads,
        """
        Wait before the first probes of a suspended app. A probe is an event that the worker admits: the event's token \
        tests the key. After the same time again, the worker resumes the app if most users have not refused these \
        tokens. If fewer have not, only the events of the users with refused tokens wait. If several users refuse, the \
        next wait is twice as long, up to fifteen times the first wait.
        """)
}
