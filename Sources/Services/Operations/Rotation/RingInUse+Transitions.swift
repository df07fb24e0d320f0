package import AdapterKit
import Formats
package import Keyring
import Pipeline
import WorkerConfiguration

extension RingInUse {
    /// Makes `version` sign.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: `KeyRingError`, `RotationError` while the ring has an open campaign, or `TooEarly` before the publish window
    ///   is over.
    @discardableResult
    package func promote(_ version: String, isForced: Bool) throws -> Bool {
        var editor = try editor()
        try requireNoPart(of: [version], in: .promote)
        try requireNotEnded(version, in: editor.listing)
        try requireReady(version, in: editor.listing, isForced: isForced)
        let changed = try editor.change { listing throws(KeyRingError) in try listing.promote(version, at: now()) }
        if changed { try audit.append("promote", version: version, detail: isForced ? "--now" : "", at: now()) }
        return changed
    }

    /// Ends the use of `version`.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: `KeyRingError`, or `RotationError` where the version is part of an open campaign. The version may be retired
    ///   although its private key could not be deleted.
    package func retire(_ version: String, isForced: Bool) throws -> Bool {
        var editor = try editor()
        try requireNoPart(of: [version], in: .retire)
        let changed = try editor.change { listing throws(KeyRingError) in try listing.retire(version) }
        if changed { try audit.append("retire", version: version, detail: isForced ? "forced" : "", at: now()) }
        try deleteLeftKey(of: version, editor)
        return changed
    }

    /// Deletes the private key of the retired `version`, where a failure, a crash or an earlier release left it.
    func deleteLeftKey(of version: String, _ editor: borrowing KeyRingEditor) throws(KeyRingError) {
        switch try directory.retiredFile(of: version) {
        case .clear, .elsewhere: return
        case .unreadable(let error): throw error
        case .privateKey: break
        }
        let action = "delete private key"
        try audit.intend(action, version: version, at: now())
        do throws(KeyRingError) { try editor.deletePrivateKey(of: version) } catch {
            if !error.isInterruption { audit.note(failed: action, version: version, at: now()) }
            throw error
        }
        try audit.append(action, version: version, at: now())
    }

    /// Returns the sentence for a private key of the retired `version` that is still on the disk; nil if there is none.
    package func leftKey(of version: String) -> String? {
        do throws(KeyRingError) {
            switch try directory.retiredFile(of: version) {
            case .clear: return nil
            case .privateKey:
                return
                    "the private key of \(version) could not be deleted; repeat: \(RemintCommand("rotate retire", ring: ring.name, "--key-version", version))"
            case .elsewhere(let path):
                return
                    "\(path) may still hold the private key of \(version). It is not the ring's own file; delete the key there"
            case .unreadable(let error): return "\(error)"
            }
        } catch { return "\(error)" }
    }

    /// Removes the retired or revoked `version` with its files. The caller has read the ledger before.
    ///
    /// - Returns: the version's files that are not the ring's own and stay.
    /// - Throws: `KeyRingError`, `RotationError` where the version is part of an open campaign, or `CompromisedKey` where
    ///   another version in use holds the key of a revoked one.
    package func remove(_ version: String, isForced: Bool) throws -> [String] {
        var editor = try editor()
        try requireRemovable(version, in: editor.listing)
        let left = try editor.remove(version)
        try audit.append("remove", version: version, detail: isForced ? "forced" : "", at: now())
        return left
    }

    /// Refuses to remove a version that may still be needed.
    ///
    /// - Throws: `KeyRingError`, `RotationError` or `CompromisedKey`, as `remove` does.
    package func requireRemovable(_ version: String) throws {
        try requireRemovable(version, in: try directory.readListing())
    }

    private func requireRemovable(_ version: String, in listing: KeyRingListing) throws {
        var check = listing
        try check.remove(version)
        if let open = try RotationFile(directory).load(), !open.phase.isOver, [open.from, open.to].contains(version) {
            throw RotationError(
                "\(ring.name): \(version) is part of the open campaign \(open.id); finish it with: \(open.ways)")
        }
        if listing.state(of: version) == .revoked { try requireRevokedEverywhere(version) }
    }

    /// Refuses a change that only the ring's open campaign may make. A change that was made already is none.
    ///
    /// - Throws: `RotationError`, or `KeyRingError` for a version that is unknown, or cannot sign again.
    package func requireNoPart(of versions: [String], in change: Rotation.RingChange) throws {
        let listing = try directory.readListing()
        let end: KeyVersion.State = change == .promote ? .active : .retired
        guard try !versions.allSatisfy({ try listing.version($0).state == end }) else { return }
        // A change that no command can make is refused for that reason.
        if change == .promote {
            var check = listing
            for version in versions { try check.promote(version, at: now()) }
        }
        let open = try RotationFile(directory).load()
        do { try open?.requireNoPart(of: versions, in: change) } catch {
            // No step of a campaign whose old version is not in the ring can be made.
            if let open, listing.state(of: open.from) == nil { _ = try open.derived(from: listing) }
            throw error
        }
    }

    /// Refuses a version that was retired or revoked before and that a restored listing has in use again.
    ///
    /// - Throws: `RotationError` with the command that ends it again.
    func requireNotEnded(_ version: String?, in listing: KeyRingListing) throws(RotationError) {
        guard let version, let revived = directory.revivedVersions(in: listing).first(where: { $0.id == version })
        else { return }
        throw RotationError("\(ring.name): \(revived.description)")
    }

    /// Refuses a version that may not sign, or that the workers would not sign with.
    ///
    /// - Parameter leaked: a version that is about to be revoked.
    /// - Throws: `CompromisedKey` where it holds the key of `leaked` or of a revoked version, `TooEarly` where `version` is prepared
    ///   for less than the publish window, `WrongAlgorithm` where an app's vendor takes another one, `KeyRingError` where it is
    ///   expired or its key cannot be used.
    func requireReady(
        _ version: String, in listing: KeyRingListing, isForced: Bool, besides leaked: String? = nil
    ) throws {
        let listed = try listing.version(version)
        // A version that is retired or revoked is refused for that reason.
        guard listed.state.verifies else { return }
        try listing.requireUnexpired(version, at: now())
        _ = try algorithm(asked: listed.algorithm)
        try directory.requireKeys(of: [version])
        try requireUncompromised(version, besides: leaked, in: listing)
        guard listed.state == .prepared, !isForced, let created = listed.created else { return }
        let ready = created.advanced(bySeconds: publishWindow)
        guard now() >= ready else { throw TooEarly(version: version, until: ready) }
    }

    /// Returns the sentence for tokens of `version` that the ledger cannot show, even without a live token of it. No
    /// remaining record contains a replaced token's end, and its `lifetime` may have been another one.
    package func unknowable(of version: String, replacedBy successor: String) -> String {
        let sentence = "unknown to the ledger: a device may still hold a replaced token of \(version)"
        guard let lifetime = apps.map(\.lifetime).max(),
            let activated = try? directory.readListing().version(successor).activated
        else { return sentence }
        let span = DurationText.format(seconds: lifetime), end = activated.advanced(bySeconds: lifetime)
        return
            "\(sentence): with today's lifetime of \(span) until \(end), and later where the lifetime was longer before"
    }
}

/// A version that was not prepared for long enough.
package struct TooEarly: Error, CustomStringConvertible {
    let version: String
    let until: UnixTime
    package var description: String {
        "\(version) was prepared too recently: not every verifier may have it. Try again at \(until), or use --now"
    }
}

/// A version that still has live tokens, or that may have some which the ledger does not show; or another revoked
/// version of the ring with such tokens.
package struct TokensLive: Error, CustomStringConvertible {
    package let description: String

    /// The refusal where `holdings` of `ring` are not clear.
    package init(
        _ holdings: CampaignHoldings, in ring: RingInUse, at now: UnixTime, _ tolerance: ClockTolerance = .standard
    ) {
        let first = holdings.first, end = first.end(at: now, tolerance)
        var parts: [String] = []
        if !first.isClear {
            let tokens = first.live.of("live token is", "live tokens are")
            let last = end.isEmpty ? "" : "; the last one \(end)"
            parts.append("\(tokens) signed with it (\(first.reasons))\(last)")
        }
        for other in holdings.otherLiving {
            let tokens = other.live.of("live token is", "live tokens are")
            parts.append(
                "\(tokens) left of \(other.version), which is revoked (\(other.tokenReasons)): \(ring.reissueCommand(of: other.version))"
            )
        }
        var ways = first.remedies(reissue: ring.reissueCommand(of: first.version))
        if let hidden = holdings.hidden { ways.append(hidden.remedy) }
        let way = ways.isEmpty ? "" : " To go on, \(ways.joined(separator: "; "))."
        description =
            "\(first.version) cannot be retired or removed: \(parts.joined(separator: "; ")).\(way) Or use --force"
    }
}
