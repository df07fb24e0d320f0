import AdapterKit
import Kafka

/// The partitions of the token topic that are followed live, and the time since which no broker answers.
///
/// Readiness depends on the live tail alone: an unknown token is minted again, and arrives on the tail.
struct TailState: Sendable, Equatable {
    /// The number of partitions of the token topic; nil before a broker has named it.
    var partitions: Int?
    /// The partitions that are followed live: each token published on them from now on arrives.
    var followed: Set<Int32> = []
    /// The partitions without a leader. Their users get no new token until there is one; all other users do.
    var leaderless: Set<Int32> = []
    /// Whether the token topic does not exist or may not be read.
    var isMissing = false
    /// The time since which no broker answers; nil while one does. Without a broker no token can be minted; known ones
    /// are served.
    var silentSince: UnixTime?
    /// The end of each partition of the token topic when everything before it was read.
    var read: [TopicPartition: Int64] = [:]

    /// Returns whether everything before `ends` was read.
    func hasRead(_ ends: [TopicPartition: Int64]) -> Bool { ends.allSatisfy { $0.value <= read[$0.key] ?? -1 } }

    /// Whether devices can be served: a broker answers, each partition with a leader is followed live, and at least one
    /// is.
    var isReady: Bool {
        guard silentSince == nil, let partitions, !followed.isEmpty else { return false }
        return followed.union(leaderless).count >= partitions
    }

    /// The number of partitions that have a leader and are not followed live yet; nil before a broker has named any.
    var behind: Int? { partitions.map { max(0, $0 - followed.union(leaderless).count) } }
}
