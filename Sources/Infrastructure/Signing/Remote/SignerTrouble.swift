import Logging
import Synchronization
import Telemetry

/// A fault of a signer's answers. Each fault is logged once, until it is over.
enum SignerTrouble: Hashable, Sendable {
    /// The signer cannot be reached, or does not publish its keys.
    case keys
    /// A ring of it cannot be used.
    case ring(String)
    /// An answer did not come in time.
    case overdue
    /// An answer is not of the protocol.
    case malformed
    /// An answer has more or fewer signatures than were asked for.
    case count
    /// A signature is not the key's.
    case signature
    /// The signer has the key and could not sign.
    case failed
    /// The ring's policy does not allow the signatures that the worker needs.
    case policy
}

extension SignerProcess {
    /// Reports faults: in the log when they begin, in the status as long as they last.
    func note(_ troubles: [SignerTrouble: String]) {
        guard !troubles.isEmpty else { return }
        let new = state.withLock { state in
            let new = troubles.filter { state.troubles[$0.key] == nil }
            state.troubles.merge(troubles) { $1 }
            show(state)
            return new
        }
        for text in new.values.sorted() {
            logger.error(
                "signer.unusable", "a signer cannot be used as it is; what it should have signed waits",
                metadata: [LogKey.signerSocket: "\(socket)", LogKey.detail: "\(text)"])
        }
    }

    /// Notes that these faults are over.
    func clear(_ troubles: [SignerTrouble]) {
        let ended = state.withLock { state in
            let ended = troubles.filter { state.troubles.removeValue(forKey: $0) != nil }
            if !ended.isEmpty { show(state) }
            return !ended.isEmpty && state.troubles.isEmpty
        }
        if ended {
            logger.notice("signer.usable", "a signer can be used again", metadata: [LogKey.signerSocket: "\(socket)"])
        }
    }

    /// Shows the faults in the status. Called under the lock, so that the last state wins.
    private func show(_ state: State) {
        let texts = state.troubles.values.sorted()
        problems(texts.isEmpty ? nil : "\(self) \(texts.joined(separator: "; "))", socket)
    }
}
