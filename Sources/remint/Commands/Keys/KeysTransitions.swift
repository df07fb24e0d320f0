import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// `remint keys promote`.
struct KeysPromote: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Makes a version sign; the one before becomes passive.",
        discussion: """
            A version must have been prepared for the app's publish_window first, so that every verifier has it; --now is for
            vendors that know one key at a time, and for emergencies.
            """)

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Do not wait for the publish window.") var now = false

    func run() throws {
        let ring = try ring.load()
        let changed = try ring.promote(version, isForced: now)
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "signs now" : "signs already")")
        if changed {
            ring.printSteps(
                "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterPromotion ?? [])
        }
    }
}

/// `remint keys retire`.
struct KeysRetire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Ends the use of a version, once no token of it lives.",
        discussion: "Reads the ledger first. --force does not, and is named in the audit log.")

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Whatever the ledger says.") var force = false
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        if !force { try await ring.requireNoLiveToken(of: version, brokers: brokers) }
        var editor = try KeyRingEditor(ring.directory)
        let changed = try editor.change { listing throws(KeyRingError) in try listing.retire(version) }
        if changed {
            try ring.audit.append("retire", version: version, detail: force ? "forced" : "", at: UnixTime.system())
        }
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is retired" : "was retired already")")
        if changed {
            ring.printSteps(
                "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
        }
    }
}

/// `remint keys revoke`.
struct KeysRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Declares a version leaked: it stops signing at once.",
        discussion: """
            Where it is the active one, --promote names its successor; without one nothing is signed and events wait in the
            retry tiers. Its users get new tokens with: remint reissue --ledger --key-id VERSION.
            """)

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Option(help: "The version that signs instead.") var promote: String?

    func run() throws {
        let ring = try ring.load()
        let changed = try ring.revoke(version, promoting: promote)
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is revoked" : "was revoked already")")
        if try ring.directory.readListing().active == nil {
            Terminal.error("remint: warning: no version signs; promote one: remint keys promote --now VERSION")
        }
    }
}

extension RingInUse {
    /// Makes `version` sign.
    ///
    /// - Returns: whether anything changed.
    /// - Throws: `KeyRingError`, or `TooEarly` before the publish window is over.
    @discardableResult
    func promote(_ version: String, isForced: Bool) throws -> Bool {
        let now = UnixTime.system()
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
    func revoke(_ version: String, promoting successor: String?) throws -> Bool {
        let now = UnixTime.system()
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
    func requireNoLiveToken(of version: String, brokers: String?) async throws {
        let ledger = try await LedgerReader(configuration, brokers: brokers).read()
        let holdings = ledger.holdings(
            at: UnixTime.system(), matching: LedgerFilter(apps: apps.map(\.name), keyID: version)
        ).filter { $0.live > 0 }
        guard !holdings.isEmpty else { return }
        let end = holdings.compactMap(\.lastEnd).max() ?? 0
        throw TokensLive(
            version: version, count: holdings.reduce(0) { $0 + $1.live }, lastEnd: UnixTime(seconds: end))
    }
}

/// A version that was not prepared for long enough.
struct TooEarly: Error, CustomStringConvertible {
    let version: String
    let until: UnixTime
    var description: String {
        "\(version) was prepared too recently: not every verifier may have it. Try again at \(until), or use --now"
    }
}

/// A version that still has live tokens.
struct TokensLive: Error, CustomStringConvertible {
    let version: String
    let count: Int
    let lastEnd: UnixTime
    var description: String {
        "\(version) cannot be retired: \(count == 1 ? "1 live token is" : "\(count) live tokens are") signed with it; the last one ends at \(lastEnd). Re-issue them, wait, or use --force"
    }
}
