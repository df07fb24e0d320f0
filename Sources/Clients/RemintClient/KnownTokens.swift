/// The newest token of the user, and of each challenge. An older token never replaces a newer one.
package struct KnownTokens {
    private struct Known {
        let answer: Answer
        /// The end of the token's life in seconds of the client's clock; minus infinity if the vendor refused the
        /// token.
        var until: Double
        /// The remaining life, in seconds, below which the client renews the token.
        let early: Double
    }

    /// A live token.
    package struct Live {
        package let answer: Answer
        /// The remaining life in seconds.
        package let life: Double
        /// Whether the client has to renew the token, which is still valid.
        package let isDue: Bool
    }

    /// The number of challenges whose tokens the client remembers.
    private static let limit = 100
    private var tokens: [String: Known] = [:]
    /// The challenges, the oldest first.
    private var challenges: [String] = []

    package init() {}

    /// The version of the user's newest token; 0 without one.
    package var version: Int64 { tokens[""]?.answer.version ?? 0 }

    /// Returns the user's token if it has more than `minLife` seconds of life.
    ///
    /// Returns nil in every other case, and if the vendor refused the token.
    package func live(at now: Double, minLife: Double) -> Live? {
        guard let known = tokens[""], known.until - now > minLife else { return nil }
        let life = known.until - now
        return Live(answer: known.answer, life: life, isDue: life < known.early)
    }

    /// Records that the vendor refused the current token of `challenge`; nil means a token without a challenge.
    package mutating func refuse(challenge: String?) {
        tokens[challenge ?? ""]?.until = -.infinity
    }

    /// Keeps `answer`, unless the client knows a newer answer of the same challenge. Returns the newest answer.
    ///
    /// - Parameter random: a number from 0 to less than 1. The number makes devices renew at different moments: in the
    ///   last tenth to fifth of a token's life, at most an hour.
    package mutating func keep(_ answer: Answer, at now: Double, random: Double) -> Answer {
        let challenge = answer.challenge ?? ""
        let known = tokens[challenge]
        if let known, known.answer.version > answer.version { return known.answer }
        let life = Double(answer.expiresIn)
        let isNew = answer.version > (known?.answer.version ?? -1)
        // If the answer has the refused token again, the token remains refused.
        let isRefused = !isNew && known?.until == -.infinity
        tokens[challenge] = Known(
            answer: answer, until: isRefused ? -.infinity : now + life,
            early: isNew ? min(3600, life * (0.1 + random / 10)) : 0)
        if known == nil, challenge != "" { remember(challenge) }
        return answer
    }

    private mutating func remember(_ challenge: String) {
        challenges.append(challenge)
        if challenges.count > Self.limit { tokens[challenges.removeFirst()] = nil }
    }
}
