import Pipeline

/// The commits that show whether topics can be written. A commit of offsets alone, without any record, does not show it.
struct PublishingProof {
    /// Whether the unit that is being committed publishes a record.
    private var isPublishing = false
    /// Whether records of an aborted unit have not been published since.
    private var isOwing = false

    /// Notes that the commit of `unit` begins.
    mutating func began(_ unit: CommitUnit) { isPublishing = unit.isPublishing }

    /// Notes that `unit` was added to the one that is being committed.
    mutating func added(_ unit: CommitUnit) { isPublishing = isPublishing || unit.isPublishing }

    mutating func aborted() { isOwing = isOwing || isPublishing }

    /// Notes that partitions went to other workers, which publish the records of an aborted unit.
    mutating func gavePartitionsUp() { isOwing = false }

    /// Notes that `unit` was committed.
    ///
    /// - Returns: Whether no record is left that could not be published.
    mutating func committed(_ unit: CommitUnit) -> Bool {
        if unit.isPublishing { isOwing = false }
        return !isOwing
    }
}

extension CommitUnit {
    var isPublishing: Bool { batches.contains { $0.settlements.contains { $0.output != nil } } }
}
