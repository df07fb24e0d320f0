import AdapterKit
package import Keyring
import WorkerConfiguration

/// A ring's campaign and the steps it takes, each under the ring's lock.
package struct Campaign {
    /// The ring.
    package let ring: RingInUse

    /// The campaign of `ring`.
    package init(ring: RingInUse) { self.ring = ring }

    private var file: RotationFile { RotationFile(ring.directory) }

    /// - Throws: `RotationError` where there is none.
    package func load() throws -> Rotation {
        guard let rotation = try file.load() else {
            throw RotationError("no campaign was begun for \(ring.ring.name); first: remint rotate prepare")
        }
        return rotation
    }

    /// The campaign; nil where there is none.
    package func loadIfAny() throws -> Rotation? { try file.load() }

    /// Changes the campaign where `step` does.
    ///
    /// - Returns: the campaign as it is then.
    /// - Throws: `KeyRingError`, also where another operator is at it, or what `step` throws.
    @discardableResult
    package func change(_ action: String, detail: String = "", _ step: (inout Rotation) throws -> Void) throws
        -> Rotation
    {
        let editor = try KeyRingEditor(ring.directory)
        let before = try load()
        var rotation = before
        try step(&rotation)
        if rotation != before { try save(rotation, action, detail, editor) }
        return rotation
    }

    /// Begins the campaign `rotation`.
    package func begin(_ rotation: Rotation, _ editor: borrowing KeyRingEditor) throws {
        try save(rotation, "rotate prepare", "from \(rotation.from)", editor)
    }

    private func save(
        _ rotation: Rotation, _ action: String, _ detail: String, _ lock: borrowing KeyRingEditor
    ) throws {
        try file.save(rotation)
        try ring.audit.append(action, version: rotation.to, detail: detail, at: ring.now())
    }
}
