package import Keyring

extension RingInUse {
    /// Returns the sentence for a step that failed after it had changed the ring; nil where the ring is as before.
    ///
    /// - Parameters:
    ///   - before: the listing before the step; nil where it could not be read.
    ///   - next: the command that completes the step.
    package func halfDone(since before: KeyRingListing?, next: RemintCommand) -> String? {
        guard let before, let now = try? directory.readListing() else { return nil }
        let changed = now.versions.filter { before.state(of: $0.id) != $0.state }
        guard !changed.isEmpty else { return nil }
        let signer = now.active.map { "\($0.id) signs" } ?? "no version signs"
        let states = changed.filter { $0.state != .active }.map { "\($0.id) is \($0.state.rawValue)" }
        return
            "the step is not complete, but the ring was changed: \(([signer] + states).joined(separator: ", ")); fix the error, then: \(next)"
    }
}
