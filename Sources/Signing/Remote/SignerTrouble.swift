import Logging
import Synchronization
import Telemetry

/// A fault of a signer's answers. Each fault is logged once, until it is over.
enum SignerTrouble: Hashable, Sendable {
    /// It cannot be reached, or does not tell its keys.
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
    /// The ring's policy does not let the signer sign what the worker makes.
    case policy
}

extension SignerProcess {
    /// Says what is wrong: in the log when it begins, in the status for as long as it lasts.
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
                "a signer cannot be used as it is; what it should have signed waits",
                metadata: [LogKey.signerSocket: "\(socket)", LogKey.detail: "\(text)"])
        }
    }

    /// These are right again.
    func clear(_ troubles: [SignerTrouble]) {
        let ended = state.withLock { state in
            let ended = troubles.filter { state.troubles.removeValue(forKey: $0) != nil }
            if !ended.isEmpty { show(state) }
            return !ended.isEmpty && state.troubles.isEmpty
        }
        if ended { logger.notice("a signer can be used again", metadata: [LogKey.signerSocket: "\(socket)"]) }
    }

    /// Under the lock, so that what is said last is true.
    private func show(_ state: State) {
        let texts = state.troubles.values.sorted()
        problems(texts.isEmpty ? nil : "\(self) \(texts.joined(separator: "; "))", socket)
    }
}
