import Logging
import Synchronization
import Telemetry

/// The counts of signatures by ring and user. The log gets a line for each ring, user and minute, never one for a
/// signature.
final class SigningTally: Sendable {
    /// The key of the counts: a ring and a user.
    struct Account: Hashable, Comparable, Sendable {
        let ring: String
        let user: UInt32

        static func < (left: Account, right: Account) -> Bool { (left.ring, left.user) < (right.ring, right.user) }
    }

    /// The results of the requests.
    struct Counts: Sendable, Equatable {
        /// Signatures that were made.
        var signed = 0
        /// Requests that a policy forbade.
        var refused = 0
        /// Requests whose key could not sign, or is not there to sign any more.
        var failed = 0
    }

    private struct State {
        var accounts: [Account: Counts] = [:]
        var strangers: [UInt32: Int] = [:]
    }

    private let state = Mutex(State())

    /// Adds `counts`, by ring, to those of `user`.
    func add(_ counts: [String: Counts], of user: UInt32) {
        state.withLock { state in
            for (ring, more) in counts {
                let account = Account(ring: ring, user: user)
                var sum = state.accounts[account] ?? Counts()
                sum.signed += more.signed
                sum.refused += more.refused
                sum.failed += more.failed
                state.accounts[account] = sum
            }
        }
    }

    /// Counts a connection of a user who may not ask.
    ///
    /// - Returns: whether this is the user's first time since the last report.
    func turnedAway(_ user: UInt32) -> Bool {
        state.withLock { state in
            state.strangers[user, default: 0] += 1
            return state.strangers[user] == 1
        }
    }

    /// Logs the counts since the last report, and begins again at zero.
    func report(to logger: Logger) {
        let past = state.withLock { state in
            defer { state = State() }
            return state
        }
        for (account, counts) in past.accounts.sorted(by: { $0.key < $1.key }) {
            logger.notice(
                "signer.signatures-counted", "what was signed with a key ring",
                metadata: [
                    LogKey.keyRing: "\(account.ring)", LogKey.signerUser: "\(account.user)",
                    LogKey.signatures: "\(counts.signed)", LogKey.signaturesRefused: "\(counts.refused)",
                    LogKey.signaturesFailed: "\(counts.failed)",
                ])
        }
        for (user, count) in past.strangers.sorted(by: { $0.key < $1.key }) where count > 1 {
            logger.warning(
                "signer.account-refused", "connections of an account that may not ask were closed",
                metadata: [LogKey.signerUser: "\(user)", LogKey.connections: "\(count)"])
        }
    }
}
