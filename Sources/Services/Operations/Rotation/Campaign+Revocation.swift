import AdapterKit
package import Keyring
import WorkerConfiguration

/// The plan of a revocation: the versions and campaigns that it concerns.
package struct RevocationPlan: Sendable, Equatable {
    package let leaked: String
    /// The version that signs instead; nil where there is none.
    package let successor: String?
    /// The open campaign that the revocation takes over from; nil where none is open, or where it continues.
    package let open: Rotation?
    /// The open campaign that continues, because the compromised version is none of its two and does not sign.
    package let beside: Rotation?
    /// The versions that could sign instead; of several the operator names one.
    package let candidates: [ListedVersion]
    fileprivate let asked: String?

    /// The plan for a ring with `listing` and the campaign `open`.
    ///
    /// - Parameters:
    ///   - version: the compromised version; nil for the one that the campaign replaces, or the active one.
    ///   - successor: the version that is to sign; nil for the active one, the campaign's other one, or the only prepared one;
    ///     where none is prepared, the only passive one.
    ///   - isUsable: whether a version could sign.
    /// - Throws: `RotationError` where no version is compromised, where the one that the campaign replaces is revoked already and
    ///   none is named, and where another version would sign while a campaign continues.
    package init(
        _ version: String?, promoting successor: String?, in listing: KeyRingListing, open: Rotation?,
        isUsable: (_ version: ListedVersion, _ leaked: String) -> Bool = { _, _ in true }
    ) throws(RotationError) {
        guard let leaked = version ?? open?.from ?? listing.active?.id else {
            throw RotationError(
                "no version is active; name the compromised one: \(RemintCommand("rotate revoke", "--key-version", "ID"))"
            )
        }
        if version == nil, listing.state(of: leaked) == .revoked { throw Self.unnamed(leaked, in: listing) }
        guard successor != leaked else {
            throw RotationError("\(leaked) is compromised and cannot sign; name another version with --promote")
        }
        self.leaked = leaked
        asked = successor
        let signer = listing.active?.id
        if let open, signer != nil, ![open.from, open.to, signer].contains(leaked) {
            (self.open, beside, self.successor, candidates) = (nil, open, signer, [])
            guard successor == nil || successor == signer else {
                throw RotationError(
                    "the campaign \(open.id) from \(open.from) to \(open.to) goes on beside the revocation of \(leaked), so its versions sign; leave out --promote, or first: \(open.kind == .rotation ? RemintCommand("rotate abort").description : open.next)"
                )
            }
            return
        }
        (self.open, beside) = (open, nil)
        if let given = successor ?? (signer == leaked ? nil : signer) {
            (self.successor, candidates) = (given, [])
            return
        }
        let other = open.map { $0.from == leaked ? $0.to : $0.from }
        let state = other.flatMap { listing.state(of: $0) }
        candidates = listing.versions.filter {
            $0.id != leaked && ($0.state == .prepared || $0.state == .passive) && isUsable($0, leaked)
        }
        let prepared = candidates.filter { $0.state == .prepared }
        let likely = prepared.isEmpty ? candidates : prepared
        self.successor = state == .prepared || state == .passive ? other : likely.count == 1 ? likely[0].id : nil
    }

    /// The refusal to choose `leaked`, which is revoked already: nobody knows whether the operator means it, or one that signs.
    private static func unnamed(_ leaked: String, in listing: KeyRingListing) -> RotationError {
        let active = listing.versions.filter { $0.state == .active }
        let others = listing.versions.filter { $0.state.verifies && $0.state != .active }
        let commands =
            (active + others).map { (id: $0.id, use: $0.state.rawValue) }
            + [(id: leaked, use: "revoked already; goes on with its revocation")]
        let list = commands.map { "\(RemintCommand("rotate revoke", "--key-version", $0.id)) (\($0.use))" }
        return RotationError(
            "\(leaked), which the open campaign replaces, is revoked already; name the version that is compromised: \(list.joined(separator: ", or "))"
        )
    }

    /// The commands that make a version sign, where none is chosen automatically.
    package var remedy: String {
        func command(_ successor: String) -> RemintCommand {
            RemintCommand("rotate revoke", "--key-version", leaked, "--promote", successor)
        }
        guard !candidates.isEmpty else {
            return "generate or import a version ID, then: \(command("ID"))"
        }
        return "choose one: "
            + candidates.map { "\(command($0.id)) (\($0.state.rawValue))" }.joined(separator: ", or ")
    }

    /// Refuses a plan that was made for another state of the ring or of its campaign.
    func requireCurrent(_ now: RevocationPlan) throws(RotationError) {
        guard now.successor == successor, now.open?.id == self.open?.id, now.beside?.id == beside?.id else {
            throw RotationError(
                "the ring or its campaign was changed meanwhile; run again: \(RemintCommand("rotate revoke", "--key-version", leaked))"
            )
        }
    }
}

extension Campaign {
    /// Returns the plan of a revocation.
    ///
    /// - Throws: `KeyRingError`, or `RotationError` where no version is compromised.
    package func revocation(of version: String?, promoting successor: String?) throws -> RevocationPlan {
        try revocation(of: version, promoting: successor, in: try ring.directory.readListing())
    }

    private func revocation(
        of version: String?, promoting successor: String?, in listing: KeyRingListing
    ) throws -> RevocationPlan {
        let open = try loadIfAny().flatMap { $0.phase.isOver ? nil : $0 }
        return try RevocationPlan(version, promoting: successor, in: listing, open: open) { version, leaked in
            (try? ring.requireNotEnded(version.id, in: listing)) != nil
                && (try? ring.requireReady(version.id, in: listing, isForced: true, besides: leaked)) != nil
        }
    }

    /// Revokes the version of `plan`, makes its successor sign in the same write, and begins the revocation's campaign.
    /// That campaign takes over from any other one that the version is part of, in any phase. A campaign of two other
    /// versions continues.
    ///
    /// - Returns: the revocation's campaign; nil where no version signs now, and where another campaign continues.
    /// - Throws: `KeyRingError`, also where another operator holds the lock, or `RotationError` where the plan no longer fits.
    package func revoke(_ plan: RevocationPlan, why: String?) throws -> Rotation? {
        var editor = try ring.editor()
        try plan.requireCurrent(revocation(of: plan.leaked, promoting: plan.asked, in: editor.listing))
        func apply(_ listing: inout KeyRingListing) throws(KeyRingError) -> Bool {
            var changed = false
            if let successor = plan.successor { changed = try listing.promote(successor, at: ring.now()) }
            return try listing.revoke(plan.leaked) || changed
        }
        // Whether it can be done is known before anything is written.
        var check = editor.listing
        _ = try apply(&check)
        if let successor = plan.successor {
            try ring.requireUncompromised(successor, besides: plan.leaked, in: editor.listing)
            // What signs already goes on signing: no damage to a file may keep a leaked key in use.
            if successor != editor.listing.active?.id {
                try ring.requireReady(successor, in: editor.listing, isForced: true, besides: plan.leaked)
            }
        }
        if let beside = plan.beside {
            if try editor.change(needing: .signer, apply) {
                try ring.audit.append(
                    "revoke", version: plan.leaked, detail: "beside the campaign \(beside.id)", at: ring.now())
            }
            return nil
        }
        guard let successor = plan.successor else {
            if try editor.change(apply) { try ring.audit.append("revoke", version: plan.leaked, at: ring.now()) }
            return nil
        }
        // The campaign first: after a crash in between, the same command continues it.
        var rotation = try open(plan, successor, why, editor)
        if try editor.change(needing: .signer, apply) {
            try ring.audit.append(
                "revoke", version: plan.leaked, detail: "campaign \(rotation.id): promoted \(successor)",
                at: ring.now())
        }
        rotation.resume()
        try rotation.promoted()
        try begin(rotation, "rotate revoked", editor)
        return rotation
    }

    private func open(
        _ plan: RevocationPlan, _ successor: String, _ why: String?, _ editor: borrowing KeyRingEditor
    ) throws -> Rotation {
        if let open = try loadIfAny(), !open.phase.isOver, open.kind == .revocation, open.from == plan.leaked,
            open.to == successor
        {
            return open
        }
        let rotation = Rotation(
            id: Self.freshID(), kind: .revocation, from: plan.leaked, to: successor, at: ring.now(),
            by: AuditLog.account, why: why)
        let before = plan.open.map { ", takes over from \($0.id) (\($0.phase.rawValue))" } ?? ""
        try begin(rotation, "rotate revoke", detail: "kind revocation\(before)", editor)
        return rotation
    }
}
