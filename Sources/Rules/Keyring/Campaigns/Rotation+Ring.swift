import JOSE

/// The campaign and its ring: the ring's states decide which version signs, and so the campaign's phase.
extension Rotation {
    /// Returns the campaign in the phase that `listing` shows. After a crash between the ring's change and the
    /// campaign's, it is a step ahead of its file.
    ///
    /// - Throws: `RotationError` where the two disagree, with the command that fixes it.
    package func derived(from listing: KeyRingListing) throws(RotationError) -> Rotation {
        guard !phase.isOver else { return try requireEnded(in: listing) }
        let signer = listing.active?.id
        guard let old = listing.state(of: from) else {
            throw disagreement("the ring has no version \(from); \(Self.startOver)")
        }
        if kind == .revocation { return try derivedRevocation(old, signer) }
        if old == .revoked {
            throw disagreement("\(from) is revoked; re-issue its tokens: \(revocation(of: from, in: listing))")
        }
        let new = listing.state(of: to)
        if new == .retired || new == .revoked, let new {
            let end =
                old == .retired
                ? revocation(of: to, in: listing) : "end the campaign with: \(RemintCommand("rotate abort"))"
            throw disagreement("\(to) is \(new.rawValue); \(end)")
        }
        switch signer {
        case from:
            guard phase == .prepared else { throw disagreement("\(from) signs; \(settlement(old, new))") }
            return self
        case to:
            var rotation = self
            try rotation.promoted()
            return rotation
        default:
            throw disagreement(
                "\(signer.map { "\($0) signs" } ?? "no version signs"); \(settlement(old, new))")
        }
    }

    /// Returns the commands that settle which of the two versions signs: a missing version cannot, and a retired one
    /// neither.
    private func settlement(_ old: KeyVersion.State, _ new: KeyVersion.State?) -> String {
        let promote = "make \(to) sign with: \(RemintCommand("rotate promote", "--now"))"
        return switch (old, new) {
        case (.retired, nil): Self.startOver
        case (_, nil): "end the campaign with: \(RemintCommand("rotate abort"))"
        case (.retired, _): promote
        default: "\(promote), or end the campaign with: \(RemintCommand("rotate abort"))"
        }
    }

    /// Refuses a ring in which the version that a finished campaign retired or revoked is in use again.
    private func requireEnded(in listing: KeyRingListing) throws(RotationError) -> Rotation {
        guard phase == .retired, let state = listing.state(of: from), state != .retired, state != .revoked else {
            return self
        }
        let ended = kind == .revocation ? KeyVersion.State.revoked : .retired
        throw disagreement(RevivedVersion(id: from, state: state, ended: ended).description)
    }

    /// Returns the command that revokes `version`; where no version can sign then, with one that must be made first.
    private func revocation(of version: String, in listing: KeyRingListing) -> String {
        let command = RemintCommand("rotate revoke", "--key-version", version).description
        let other = listing.state(of: version == from ? to : from)
        if listing.active.map({ $0.id != version }) ?? (other == .prepared || other == .passive) { return command }
        return
            "generate or import a version ID, then: \(RemintCommand("rotate revoke", "--key-version", version, "--promote", "ID"))"
    }

    private func derivedRevocation(
        _ old: KeyVersion.State, _ signer: String?
    ) throws(RotationError) -> Rotation {
        guard old == .revoked else {
            throw disagreement(
                "\(from) is \(old.rawValue) and not revoked; go on with: \(RemintCommand("rotate revoke", "--key-version", from))"
            )
        }
        guard signer == to else {
            let successor = signer ?? "ID"
            throw disagreement(
                "\(signer.map { "\($0) signs" } ?? "no version signs"); go on with: \(RemintCommand("rotate revoke", "--key-version", from, "--promote", successor))"
            )
        }
        var rotation = self
        try rotation.promoted()
        return rotation
    }

    private static var startOver: String {
        "move rotation.json away and start again: \(RemintCommand("rotate prepare"))"
    }

    private func disagreement(_ reason: String) -> RotationError {
        RotationError("the campaign \(id) from \(from) to \(to) is \(phase.rawValue), but in the ring \(reason)")
    }

    /// Refuses a change of the ring that only the campaign may make.
    ///
    /// - Parameters:
    ///   - versions: the versions that the change is about.
    ///   - change: the change.
    /// - Throws: `RotationError` with the `rotate` command to use.
    package func requireNoPart(of versions: [String], in change: RingChange) throws(RotationError) {
        guard !phase.isOver else { return }
        // Whatever is promoted takes the signing from a version of the campaign.
        guard change == .promote || versions.contains(from) || versions.contains(to) else { return }
        let version = versions.first ?? from
        let remedy =
            switch change {
            case .promote where version == to: RemintCommand("rotate promote").description
            case .promote where kind == .revocation && version == from: next
            case .promote where kind == .revocation:
                RemintCommand("rotate revoke", "--key-version", from, "--promote", version).description
            case .promote: RemintCommand("rotate abort").description
            case .retire where version == to: kind == .revocation ? next : RemintCommand("rotate abort").description
            case .retire: RemintCommand("rotate retire").description
            }
        throw RotationError(
            "the ring has an open campaign, \(id) from \(from) to \(to) (\(phase.rawValue)); use: \(remedy)")
    }

    /// A change of the ring outside of a campaign.
    package enum RingChange: Sendable { case promote, retire }
}

extension KeyRingListing {
    /// Returns the state of the version `id`; nil where there is none.
    package func state(of id: String) -> KeyVersion.State? { versions.first { $0.id == id }?.state }
}
