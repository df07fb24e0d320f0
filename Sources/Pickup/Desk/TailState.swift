import AdapterKit

/// Which partitions of the token topic are followed live, and since when no broker answers.
///
/// Readiness needs the live tail alone: a token that is not known is minted anew, and arrives by the tail.
struct TailState: Sendable, Equatable {
    /// The number of partitions of the token topic; nil before a broker has named it.
    var partitions: Int?
    /// The partitions that are followed live: each token published on them from now on arrives.
    var followed: Set<Int32> = []
    /// The partitions without a leader. Users on them get no new token until they have one; everybody else does.
    var leaderless: Set<Int32> = []
    /// Since when no broker answers; nil while one does. Without a broker no token can be minted; known ones are served.
    var silentSince: UnixTime?

    /// Whether devices can be served: a broker answers, and each partition with a leader is followed live, at least one.
    var isReady: Bool {
        guard silentSince == nil, let partitions, !followed.isEmpty else { return false }
        return followed.union(leaderless).count >= partitions
    }

    /// The number of partitions that have a leader and are not followed live yet; nil before a broker has named any.
    var behind: Int? { partitions.map { max(0, $0 - followed.union(leaderless).count) } }
}
