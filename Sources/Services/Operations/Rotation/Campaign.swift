import AdapterKit
import Glibc
import JOSE
package import Keyring
import WorkerConfiguration

/// A ring's campaign and its steps. Each step runs under the ring's lock, which covers the ring and the campaign's
/// file, and is judged by the ring's states.
package struct Campaign {
    package let ring: RingInUse

    /// The campaign of `ring`.
    package init(ring: RingInUse) { self.ring = ring }

    private var file: RotationFile { RotationFile(ring.directory) }

    /// Returns the campaign.
    ///
    /// - Throws: `RotationError` where there is none.
    package func load() throws -> Rotation {
        guard let rotation = try file.load() else {
            throw RotationError(
                "no campaign was begun for \(ring.ring.name); first: \(RemintCommand("rotate prepare"))")
        }
        return rotation
    }

    /// Returns the campaign; nil where there is none.
    package func loadIfAny() throws -> Rotation? { try file.load() }

    /// Makes a step of the campaign: `step` changes the ring, the campaign, or both.
    ///
    /// - Parameter id: the campaign's id; nil for any campaign.
    /// - Returns: the campaign after the step.
    /// - Throws: `KeyRingError`, also where another operator holds the lock, `RotationError` where the campaign is
    ///   another one by now, or the error of `step`.
    @discardableResult
    package func step(
        _ action: String, detail: String = "", of id: String? = nil,
        _ step: (inout KeyRingEditor, inout Rotation) throws -> Void
    ) throws -> Rotation {
        var editor = try ring.editor()
        let before = try load()
        if let id, before.id != id {
            throw RotationError(
                "the campaign \(id) is over: \(before.id) from \(before.from) to \(before.to) took over")
        }
        // Steps that stop the signing of a retired or revoked version, and pauses, are allowed.
        if !["rotate promote", "rotate abort", "rotate pause"].contains(action) {
            try ring.requireNotEnded(editor.listing.active?.id, in: editor.listing)
        }
        var rotation = before
        try step(&editor, &rotation)
        if rotation.pause != before.pause { rotation.datePause(ring.now()) }
        if rotation != before { try save(rotation, action, detail, editor) }
        if rotation.phase.isOver { removeOldLists() }
        return rotation
    }

    /// Begins the campaign `rotation`; the caller holds the ring's lock.
    package func begin(
        _ rotation: Rotation, _ action: String, detail: String = "", _ editor: borrowing KeyRingEditor
    ) throws {
        let more = detail.isEmpty ? "" : ", \(detail)"
        try save(rotation, action, "from \(rotation.from)\(more)", editor)
        removeOldLists()
    }

    private func save(
        _ rotation: Rotation, _ action: String, _ detail: String, _ lock: borrowing KeyRingEditor
    ) throws {
        let detail = "campaign \(rotation.id)" + (detail.isEmpty ? "" : ": \(detail)")
        try ring.audit.intend(action, version: rotation.to, detail: detail, at: ring.now())
        do throws(KeyRingError) { try file.save(rotation) } catch {
            // The file may be in place although its folder could not be brought to disk.
            if !error.isInterruption, (try? file.load()) != rotation {
                ring.audit.note(failed: action, version: rotation.to, at: ring.now())
            }
            throw error
        }
        try ring.audit.append(action, version: rotation.to, detail: detail, at: ring.now())
    }

    /// Returns the files of `rotation`'s job.
    package func files(of rotation: Rotation) -> ReissueFiles {
        ReissueFiles(state: ring.directory.checkpoint(of: rotation.id), on: ring.directory.disk)
    }

    /// Returns the progress of `rotation`'s job; nil where none has begun.
    ///
    /// - Throws: `RotationError` for the checkpoint of another campaign.
    package func progress(of rotation: Rotation) throws -> ReissueProgress? {
        let files = files(of: rotation)
        guard let progress = try files.load() else { return nil }
        guard progress.campaign == rotation.id else {
            throw RotationError(
                "\(files.state) is the checkpoint of \(progress.campaign.map { "the campaign \($0)" } ?? "no campaign"), not of \(rotation.id); move it away, and the job reads the ledger again"
            )
        }
        return progress
    }

    // MARK: The steps that operators make

    /// Begins a campaign, or returns the one that was prepared.
    ///
    /// - Parameters:
    ///   - version: the version that is to sign: a prepared one, or a passive one to go back to; nil for a new one.
    ///   - why: the operator's reason.
    /// - Throws: `KeyRingError`, or `RotationError` where another campaign is open.
    package func prepare(_ version: String?, why: String?) throws -> Rotation {
        let editor = try ring.editor()
        try ring.requireNotEnded(editor.listing.active?.id, in: editor.listing)
        try ring.requireNotEnded(version, in: editor.listing)
        var ended = ""
        if let open = try loadIfAny(), !open.phase.isOver {
            let open = try open.derived(from: editor.listing)
            if open.phase == .prepared, version == nil || version == open.to { return open }
            // A campaign whose users all hold a new token may be followed by the next one; its old version stays
            // passive. But an operator who names no version means a new key, and may have missed the open campaign.
            guard open.phase == .reissued, open.kind == .rotation, version != nil, version != open.to else {
                throw unfinished(open)
            }
            ended = ", after \(open.id)"
        }
        guard let active = editor.listing.active else { throw unsigned(editor.listing) }
        // A key that cannot be generated is refused before anything is written.
        if version == nil { _ = try ring.algorithm(asked: active.algorithm) }
        if let version {
            let state = try editor.listing.version(version).state
            guard state == .prepared || state == .passive else {
                throw RotationError("\(version) is \(state.rawValue); a campaign needs a prepared or a passive version")
            }
            try ring.requireReady(version, in: editor.listing, isForced: true)
        }
        let now = ring.now()
        let rotation = Rotation(
            id: Self.freshID(), from: active.id, to: version ?? editor.listing.freshID(at: now), at: now,
            by: AuditLog.account, why: why)
        try begin(rotation, "rotate prepare", detail: "kind rotation\(ended)", editor)
        return rotation
    }

    private func unfinished(_ open: Rotation) -> RotationError {
        let leave =
            open.phase == .reissued && open.kind == .rotation
            ? "; to leave \(open.from) in use and begin another one: \(RemintCommand("keys generate")), then \(RemintCommand("rotate prepare", "--key-version", "ID"))"
            : ""
        return RotationError(
            "the campaign \(open.id) from \(open.from) to \(open.to) is \(open.phase.rawValue); finish it with: \(open.ways)\(leave)"
        )
    }

    private func unsigned(_ listing: KeyRingListing) -> RotationError {
        let usable = listing.versions.first { $0.state == .prepared } ?? listing.versions.first { $0.state == .passive }
        func promotion(_ id: String) -> RemintCommand { RemintCommand("rotate promote", "--key-version", id, "--now") }
        let remedy = usable.map { "first: \(promotion($0.id))" }
        return RotationError(
            "\(ring.ring.name) has no active version to rotate from; \(remedy ?? "generate or import a version ID, then: \(promotion("ID"))")"
        )
    }

    /// Makes the new version sign.
    ///
    /// - Throws: `KeyRingError`, `RotationError`, or `TooEarly` before the publish window is over.
    package func promote(isForced: Bool) throws -> Rotation {
        return try step("rotate promote", detail: isForced ? "--now" : "") { editor, rotation in
            let before = rotation
            try rotation.promoted()
            guard editor.listing.state(of: rotation.to)?.verifies == true else {
                _ = try before.derived(from: editor.listing)
                throw RotationError(
                    "the ring has no version \(rotation.to) yet; first: \(RemintCommand("rotate prepare"))")
            }
            if rotation.kind == .revocation { _ = try rotation.derived(from: editor.listing) }
            let to = rotation.to
            try ring.requireReady(to, in: editor.listing, isForced: isForced)
            if try editor.change({ listing throws(KeyRingError) in try listing.promote(to, at: ring.now()) }) {
                try ring.audit.append("promote", version: to, detail: "campaign \(rotation.id)", at: ring.now())
            }
        }
    }

    /// Returns to the old version.
    ///
    /// - Returns: the campaign, and whether its new version signed.
    /// - Throws: `KeyRingError`, or `RotationError`, also for a revocation.
    package func abort() throws -> (rotation: Rotation, hadSigned: Bool) {
        var hadSigned = false
        let rotation = try step("rotate abort") { editor, rotation in
            guard rotation.phase != .aborted else { return }
            let before = rotation
            // A revocation cannot be aborted; where the ring disagrees, what settles that comes first.
            if before.kind == .revocation { _ = try before.derived(from: editor.listing) }
            try rotation.abort()
            let (from, to) = (rotation.from, rotation.to)
            try requireWayBack(of: before, in: editor.listing)
            let state = editor.listing.state(of: to)
            hadSigned = state != nil && state != .prepared
            var isRetired = false
            // The new version's key may be the problem, so only the old one's must be usable.
            let changed = try editor.change(needing: .signer) { listing throws(KeyRingError) in
                // A version that never signed has no tokens; one that existed before stays prepared.
                if state == .prepared, rotation.hasMade(try listing.version(to)) { isRetired = try listing.retire(to) }
                return try listing.promote(from, at: ring.now()) || isRetired
            }
            guard changed else { return }
            let (action, version) = isRetired ? ("retire", to) : ("promote", from)
            try ring.audit.append(action, version: version, detail: "campaign \(rotation.id)", at: ring.now())
        }
        return (rotation, hadSigned)
    }

    /// Refuses to go back to a version that cannot sign again.
    private func requireWayBack(of rotation: Rotation, in listing: KeyRingListing) throws(RotationError) {
        guard listing.state(of: rotation.from)?.verifies != true else { return }
        let derived = try rotation.derived(from: listing)
        throw RotationError(
            "\(rotation.from) is retired and cannot sign again; finish the campaign with: \(derived.next)")
    }

    /// Ends the use of the old version, and with it the campaign. The caller has read the ledger before.
    package func retire(_ id: String, isForced: Bool) throws {
        try step("rotate retire", detail: isForced ? "forced" : "", of: id) { editor, rotation in
            rotation = try rotation.derived(from: editor.listing)
            try rotation.retired()
            let from = rotation.from
            guard editor.listing.state(of: from) != .revoked else { return }
            if try editor.change({ listing throws(KeyRingError) in try listing.retire(from) }) {
                try ring.audit.append("retire", version: from, detail: "campaign \(id)", at: ring.now())
            }
            try ring.deleteLeftKey(of: from, editor)
        }
    }

    /// Pauses the re-issue; a running one stops after its batch.
    package func pause(because reason: String) throws {
        try step("rotate pause", detail: reason) { try $1.pause(because: reason) }
    }

    /// Resumes the re-issue.
    package func resume() throws {
        try step("rotate resume") { editor, rotation in
            rotation = try rotation.derived(from: editor.listing)
            rotation.resume()
        }
    }

    /// Generates the key of the campaign's new version, where the ring does not have it yet.
    ///
    /// A large key takes minutes, so it is generated before the ring is locked: nothing may keep a revocation waiting.
    ///
    /// - Throws: `KeyRingError`, `WrongAlgorithm`, or `RotationError` where the campaign is over.
    package func addMissingKey(of rotation: Rotation, rsaBits: Int) throws {
        try addMissingKey(of: rotation) { algorithm, encoding in
            try KeyGeneration.key(algorithm, encoding: encoding, rsaBits: rsaBits, id: rotation.to)
        }
    }

    /// The same with a key that `generate` makes.
    func addMissingKey(
        of rotation: Rotation, _ generate: (Algorithm, SecretEncoding?) throws -> SigningKey
    ) throws {
        func isMissing(in listing: KeyRingListing) -> Bool { listing.state(of: rotation.to) == nil }
        let listing = try ring.directory.readListing()
        guard isMissing(in: listing) else { return }
        let old = try listing.version(rotation.from)
        let encoding = ring.encoding(asked: old.encoding)
        let key = try generate(try ring.algorithm(asked: old.algorithm), encoding)
        try step("rotate prepare", detail: "generated", of: rotation.id) { editor, rotation in
            // A key that another operator added meanwhile under this id is not the campaign's own.
            guard rotation.phase == .prepared, isMissing(in: editor.listing) else { return }
            try editor.add(key, id: rotation.to, encoding: encoding, at: ring.now(), as: "generate")
            try ring.audit.append("generate", version: rotation.to, detail: key.algorithm.rawValue, at: ring.now())
            rotation.generatedKey()
        }
    }

    /// Returns the campaign as the ring has it.
    ///
    /// - Throws: `RotationError` where there is none, or where the two disagree.
    package func derived() throws -> Rotation {
        try load().derived(from: try ring.directory.readListing())
    }

    static func freshID() -> String {
        var random = SystemRandomNumberGenerator()
        return RandomUUID.make(using: &random)
    }

    // MARK: Removal of the lists of users that campaigns leave

    private static let (start, end) = ("rotation-", ".subjects")

    /// Removes the lists of users of every campaign but the open one: they hold the ids of all users, and nothing reads them any
    /// more. A job that is at work on one removes it when it ends.
    func removeOldLists() {
        guard let lock = try? ReissueLock("\(ring.directory.path)/reissue.lock", at: ring.now()) else { return }
        removeOldListsLocked()
        withExtendedLifetime(lock) {}
    }

    /// Removes the lists, for a caller that holds `reissue.lock`.
    func removeOldListsLocked() {
        let folder = ring.directory.path
        guard let rotation = try? load(), let listing = try? ring.directory.readListing() else { return }
        let kept = rotation.phase.isOver ? nil : files(of: rotation).subjects
        for name in ScratchFile.names(in: folder) where name.hasPrefix(Self.start) && name.hasSuffix(Self.end) {
            let path = "\(folder)/\(name)"
            // No key is removed, whatever its file is called.
            guard path != kept, !ring.directory.isNamed(name, by: listing.versions) else { continue }
            _ = try? ring.directory.disk.run(.remove, on: path) { unlink(path) }
        }
    }
}
