/// The limits of a session, in events. Each is a number of batches: one commit follows another only between two batches,
/// so a batch is small, and several batches share a commit.
struct SessionLimits: Sendable {
    /// The batches that fit into the events read ahead: one is processed while the next one is consumed.
    static let batchesAhead = 2

    /// The retries that may have finished before another batch without live events waits for the commit under way. A
    /// retry may cost next to nothing, so the number bounds the size of the next commit and not the time of the batch.
    static let readyRetries = 100

    /// The most events of a batch.
    let batch: Int

    /// The most events of a lane that are consumed and not in a batch yet.
    var ahead: Int { batch * Self.batchesAhead }

    /// The most finished events that may wait for the commit under way: the batches of one slow commit. At the limit,
    /// finished events are committed before more are processed.
    var ready: Int { batch * 6 }

    /// The most events that wait in place for their look-ups. At the limit, the next events that would wait move to the
    /// retry tiers, so that a slow vendor does not hold up the partitions.
    var parked: Int { batch * 4 }

    /// The most events of one commit, after additions: a failed commit repeats all of them.
    var commit: Int { batch * 12 }
}
