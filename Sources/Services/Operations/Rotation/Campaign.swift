import AdapterKit
package import Keyring
import WorkerConfiguration

/// A ring's campaign and its steps. Each step runs under the ring's lock, which covers the ring and the campaign's
/// file, and is judged by the ring's states.
package struct Campaign {
    /// The ring.
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
        if before.isOfOldForm {
            try adoptFiles(of: before)
            rotation = rotation.inNewForm
        }
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

    /// Renames the checkpoint of a campaign from before campaigns had ids. Before the re-issue, the existing one
    /// belongs to another campaign.
    private func adoptFiles(of rotation: Rotation) throws {
        let old = ReissueFiles(state: ring.directory.checkpoint(of: rotation.to), on: ring.directory.disk)
        let new = files(of: rotation)
        guard [.canary, .waves].contains(rotation.phase), try new.load() == nil, let progress = try old.load(),
            progress.input == "ledger of \(rotation.from)", progress.campaign == nil, !progress.isFinished
        else { return }
        try new.takeOver(old, with: progress.adopted(by: rotation.id))
    }
}
