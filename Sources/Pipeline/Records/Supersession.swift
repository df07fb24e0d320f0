/// Why an event needs no token of its own: a newer one answers it already.
public enum Supersession: String, Sendable, CaseIterable {
    /// Another report of the same failure stands in the same batch and is answered.
    case sameBatch = "same_batch"
    /// It follows the last token so closely that it must be about the failure that token answers.
    case burst
    /// It was observed before the last token was minted.
    case observedEarlier = "observed_earlier"
    /// It names a token that the last one replaced.
    case olderToken = "older_token"
    /// The subject got as many tokens in a row as it may; the last one is at most a minute old.
    case recentToken = "recent_token"
    /// It calls the last token expired, which is unexpired: the device's clock is wrong or the SDK names the wrong token, and
    /// the key is not to blame. One further token was minted within the loop window.
    case clockSkew = "clock_skew"

    /// Whether several reports of one failure were taken together, rather than one that came late.
    public var isCoalesced: Bool { self == .sameBatch || self == .burst }
}
