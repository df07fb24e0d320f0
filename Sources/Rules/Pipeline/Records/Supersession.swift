/// The reason that an event needs no token of its own: a newer token already answers it.
public enum Supersession: String, Sendable, CaseIterable {
    /// The same batch answers another report of the same failure.
    case sameBatch = "same_batch"
    /// The event follows the latest token so closely that the token answers its failure.
    case burst
    /// The event was observed before the latest token was minted.
    case observedEarlier = "observed_earlier"
    /// The event names a token that the latest one replaced.
    case olderToken = "older_token"
    /// The subject has reached the limit of tokens in a row; the latest one is at most a minute old.
    case recentToken = "recent_token"
    /// The event calls the latest token expired, but it is unexpired: the device's clock is wrong or its SDK names the
    /// wrong token. The key is not the cause. One more token was minted within the loop window.
    case clockSkew = "clock_skew"

    /// Whether several reports of one failure were coalesced, in contrast to a late report.
    public var isCoalesced: Bool { self == .sameBatch || self == .burst }
}
