import JOSE

/// The difference between two states of a listing, as the audit log names it.
struct ListingChange: Sendable, Equatable {
    /// The change: `add`, `promote`, `retire`, `revoke` or `remove`.
    let action: String
    /// The version that is changed.
    let version: String?
    /// Every version's change of state, such as `a: active to passive, b: prepared to active`.
    let detail: String

    init(from old: KeyRingListing, to new: KeyRingListing) {
        var changes: [(id: String, before: KeyVersion.State?, after: KeyVersion.State)] = []
        for version in new.versions {
            let before = old.versions.first { $0.id == version.id }?.state
            if before != version.state { changes.append((version.id, before, version.state)) }
        }
        let removed = old.versions.filter { version in !new.versions.contains { $0.id == version.id } }
        if let version = removed.first {
            (action, self.version) = ("remove", version.id)
            detail = removed.map { "\($0.id): \($0.state.rawValue), removed" }.joined(separator: ", ")
            return
        }
        let main =
            changes.first { $0.before == nil } ?? changes.first { $0.after == .revoked }
            ?? changes.first { $0.after == .retired } ?? changes.first { $0.after == .active }
        action =
            switch (main?.before, main?.after) {
            case (nil, .some): "add"
            case (_, .revoked): "revoke"
            case (_, .retired): "retire"
            case (_, .active): "promote"
            default: "change"
            }
        version = main?.id
        detail = changes.map { change in
            change.before.map { "\(change.id): \($0.rawValue) to \(change.after.rawValue)" }
                ?? "\(change.id): new, \(change.after.rawValue)"
        }.joined(separator: ", ")
    }
}
