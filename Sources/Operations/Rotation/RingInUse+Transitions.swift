import AdapterKit
import Keyring
package import Logging
import Pipeline
import WorkerConfiguration

extension RingInUse {
    /// Makes `version` sign.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: `KeyRingError`, or `TooEarly` before the publish window is over.
    @discardableResult
    package func promote(_ version: String, isForced: Bool) throws -> Bool {
        let now = self.now()
        var editor = try KeyRingEditor(directory)
        let listed = try editor.listing.version(version)
        if listed.state == .prepared, !isForced, let created = listed.created {
            let ready = created.advanced(bySeconds: publishWindow)
            guard now >= ready else { throw TooEarly(version: version, until: ready) }
        }
        let changed = try editor.change { listing throws(KeyRingError) in try listing.promote(version, at: now) }
        if changed { try audit.append("promote", version: version, detail: isForced ? "--now" : "", at: now) }
        return changed
    }

    /// Declares `version` leaked, and makes another one sign in the same write.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: `KeyRingError`.
    @discardableResult
    package func revoke(_ version: String, promoting successor: String?) throws -> Bool {
        let now = self.now()
        var editor = try KeyRingEditor(directory)
        let changed = try editor.change { listing throws(KeyRingError) in
            var changed = false
            if let successor { changed = try listing.promote(successor, at: now) }
            return try listing.revoke(version) || changed
        }
        if changed {
            try audit.append("revoke", version: version, detail: successor.map { "promoted \($0)" } ?? "", at: now)
        }
        return changed
    }

    /// - Throws: `TokensLive`, or what keeps the ledger from being read.
    package func requireNoLiveToken(
        of version: String, brokers: String, logger: Logger, display: any ProgressDisplay
    ) async throws {
        let reader = LedgerReader(configuration, brokers: brokers, logger: logger, display: display)
        let holdings = try await reader.holdings(
            at: now(), matching: LedgerFilter(apps: apps.map(\.name), keyID: version)
        ).list.filter { $0.live > 0 }
        guard !holdings.isEmpty else { return }
        let end = holdings.compactMap(\.lastEnd).max() ?? 0
        throw TokensLive(
            version: version, count: holdings.reduce(0) { $0 + $1.live }, lastEnd: UnixTime(seconds: end))
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

/// A version that still has live tokens.
package struct TokensLive: Error, CustomStringConvertible {
    let version: String
    let count: Int
    let lastEnd: UnixTime
    package var description: String {
        "\(version) cannot be retired: \(count == 1 ? "1 live token is" : "\(count) live tokens are") signed with it; the last one ends at \(lastEnd). Re-issue them, wait, or use --force"
    }
}
