package import AdapterKit
package import JOSE
package import Keyring
package import Logging
package import WorkerConfiguration

/// A key ring with the apps that use it.
package struct RingInUse {
    package let configuration: Configuration
    package let ring: Configuration.Key
    package let directory: KeyRingDirectory
    package let now: @Sendable () -> UnixTime

    /// `ring` of `configuration`, in `directory`.
    package init(
        configuration: Configuration, ring: Configuration.Key, directory: KeyRingDirectory,
        now: @escaping @Sendable () -> UnixTime
    ) {
        self.now = now
        self.configuration = configuration
        self.ring = ring
        self.directory = directory
    }

    package var apps: [Configuration.App] { configuration.apps.filter { $0.key == ring.name } }
    /// Takes the lock of the ring for a change.
    ///
    /// - Throws: `KeyRingError`, also where another operator holds it.
    package func editor() throws(KeyRingError) -> KeyRingEditor { try KeyRingEditor(directory, now: now) }

    /// The reasons, with their remedies, that workers cannot load all keys of the ring.
    package var damagedKeys: [KeyRingError] {
        let versions = (try? directory.readListing())?.versions.filter(\.state.verifies) ?? []
        return directory.damagedKeys(of: Set(versions.map(\.id)))
    }

    package var audit: AuditLog { AuditLog(directory) }
    /// The way in which the vendor gets the ring's keys; nil for a ring that no app uses.
    package var handover: KeyHandover? { apps.first?.adapter.keyHandover }

    /// The shortest time for which a version must have been prepared, in seconds: the longest `publish_window` of the
    /// ring's apps.
    package var publishWindow: Int64 { apps.map(\.publishWindow).max() ?? 0 }

    /// Returns the algorithm of the ring's keys.
    ///
    /// - Parameter asked: the operator's choice; nil for the algorithm that the apps' vendors accept.
    /// - Throws: `WrongAlgorithm` where a vendor accepts another one.
    package func algorithm(asked: Algorithm?) throws -> Algorithm {
        for app in apps {
            let adapter = app.adapter
            if let asked, asked != adapter.algorithm {
                throw WrongAlgorithm(
                    "\(asked.rawValue) is not for the app \(app.name): \(adapter.vendor) takes \(adapter.algorithm.rawValue) alone"
                )
            }
        }
        guard let algorithm = asked ?? apps.first?.adapter.algorithm else {
            throw WrongAlgorithm("no app uses the key ring \(ring.name); name its --algorithm")
        }
        return algorithm
    }

    /// Returns the encoding of the ring's shared secrets.
    package func encoding(asked: SecretEncoding?) -> SecretEncoding? {
        asked ?? apps.compactMap(\.adapter.secretEncoding).first
    }
}

extension KeyRingListing {
    /// Returns an id for a version of this month that no version and no file of the folder has: `2026-11`, `2026-11.2`,
    /// …
    package func freshID(at time: UnixTime) -> String {
        let month = String(time.description.prefix(7))
        var id = month
        var number = 2
        while isTaken(id) {
            id = "\(month).\(number)"
            number += 1
        }
        return id
    }
}

/// An algorithm that a ring's apps do not accept, or none where no app names one.
package struct WrongAlgorithm: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

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

/// A version that holds a key which another version holds too.
package struct KeyHolder: Sendable, CustomStringConvertible {
    /// The ring's name in the configuration.
    package let ring: String
    package let version: ListedVersion

    /// Whether the version is revoked, so that every holder of its key holds a compromised one.
    package var isRevoked: Bool { version.state == .revoked }
    package var revocation: String {
        RemintCommand("rotate revoke", ring: ring, "--key-version", version.id).description
    }
    package var description: String { "\(version.id) (\(version.state.rawValue)) of the ring \(ring)" }
}

/// The versions of all rings of the configuration that hold one key. Secrets are compared in a time that depends on their lengths
/// alone; a ring that cannot be read, or is behind a signer, has none.
extension RingInUse {
    /// Returns the versions that hold `key`.
    package func holders(of key: VerificationKey) -> [KeyHolder] {
        configuration.keys.flatMap { other -> [KeyHolder] in
            let folder = other.name == ring.name ? directory : other.path.map { KeyRingDirectory(path: $0) }
            guard let stored = try? folder?.storedKeys() else { return [] }
            return stored.filter { $0.key.hasSameMaterial(as: key) }.map {
                KeyHolder(ring: other.name, version: $0.version)
            }
        }
    }

    /// Returns the other versions that hold the key of `version`; nil where its file is gone or holds no key.
    package func holders(of version: String) -> [KeyHolder]? {
        let stored = try? directory.storedKeys().first { $0.version.id == version }
        return stored.map { stored in
            holders(of: stored.key).filter { $0.ring != ring.name || $0.version.id != version }
        }
    }

    /// Refuses a key that is to come into the ring and that a revoked version holds.
    package func requireUncompromised(_ key: VerificationKey) throws(CompromisedKey) {
        guard let holder = holders(of: key).first(where: \.isRevoked) else { return }
        throw CompromisedKey("this key is compromised: it is that of \(holder); generate or import another one")
    }

    /// Refuses a version that is to sign and holds the key of a revoked version, or of `leaked`, which is about to be revoked.
    ///
    /// - Throws: `CompromisedKey` with the command that goes on.
    func requireUncompromised(
        _ version: String, besides leaked: String? = nil, in listing: KeyRingListing
    ) throws(CompromisedKey) {
        let holder = holders(of: version)?.first {
            $0.isRevoked || $0.ring == ring.name && $0.version.id == leaked
        }
        guard let holder else { return }
        let remedy =
            leaked != nil && listing.active?.id == version
            ? "first: \(RemintCommand("rotate revoke", "--key-version", version, "--promote", "ID")), with the ID of a version of another key"
            : "name a version of another key"
        throw CompromisedKey(
            "\(version) holds the compromised key of \(holder), and cannot sign; \(remedy); to make one: \(RemintCommand("keys generate", ring: ring.name))"
        )
    }

    /// Refuses to call `version` revoked while other versions of its key are in use.
    ///
    /// - Throws: `CompromisedKey` with the commands that revoke them.
    package func requireRevokedEverywhere(_ version: String) throws(CompromisedKey) {
        let others = (holders(of: version) ?? []).filter(\.version.state.verifies)
        guard !others.isEmpty else { return }
        let list = others.map { "\($0): \($0.revocation)" }.joined(separator: "; ")
        throw CompromisedKey("the compromised key of \(version) is in use under other names; revoke \(list)")
    }

    /// Refuses to call the ring's revoked versions revoked while other versions of their keys are in use.
    ///
    /// - Throws: `CompromisedKey` with the commands that revoke them, or `KeyRingError`.
    package func requireRevokedEverywhere() throws {
        for version in try directory.readListing().versions where version.state == .revoked {
            try requireRevokedEverywhere(version.id)
        }
    }
}

/// A key that is compromised, under whatever name.
package struct CompromisedKey: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension RingInUse {
    /// The ring among the configured ones, for telling its tokens from those of other rings.
    package var ledgerRing: LedgerRing { LedgerRing(ring.name, in: configuration) }
}

extension LedgerRing {
    /// The ring `name` among those of `configuration`, as their folders list their versions now.
    package init(_ name: String, in configuration: Configuration) {
        self.init(
            name, among: Set(configuration.keys.map(\.name)),
            apps: Dictionary(configuration.apps.map { ($0.name, $0.key) }) { first, _ in first },
            versions: Self.versions(in: configuration))
    }

    /// Returns the names of the rings of `configuration` that have a version `id`.
    package static func names(havingVersion id: String, in configuration: Configuration) -> [String] {
        versions(in: configuration).filter { $0.value.contains(id) }.map(\.key).sorted()
    }

    /// Returns the ids of each ring's versions. A folder that cannot be read has none: tokens that name its ring then
    /// count as of an unknown ring.
    private static func versions(in configuration: Configuration) -> [String: Set<String>] {
        var versions: [String: Set<String>] = [:]
        for key in configuration.keys {
            guard let path = key.path else { continue }
            let listing = try? KeyRingDirectory(path: path).readListing()
            versions[key.name] = Set(listing?.versions.map(\.id) ?? [])
        }
        return versions
    }
}

extension RingInUse {
    /// Returns `version`, then the ring's revoked versions: nobody may hold a live token of these, whichever campaign
    /// is open.
    ///
    /// - Throws: `KeyRingError` where the ring cannot be read.
    package func withRevoked(_ version: String) throws -> [String] {
        let revoked = try directory.readListing().versions.filter { $0.state == .revoked }.map(\.id)
        return [version] + revoked.filter { !$0.hasSameBytes(as: version) }
    }

    /// Refuses to retire the first of `versions` unless no worker can add a token of any of them to the ledger, and the ledger was
    /// read whole and shows no live one.
    ///
    /// - Parameters:
    ///   - tolerance: the bound on how far the clock may be ahead.
    ///   - next: the command to run again where workers may still add tokens.
    /// - Throws: `TokensLive`, `UseNotOver`, or the error that keeps the ledger from being read.
    package func requireNoLiveToken(
        of versions: [String], brokers: String, tolerating tolerance: ClockTolerance = .standard,
        next: RemintCommand = RemintCommand("rotate retire"), logger: Logger, display: any ProgressDisplay
    ) async throws {
        let reader = LedgerReader(configuration, brokers: brokers, logger: logger, display: display)
        let end = EndOfUse(of: self, brokers: brokers, logger: logger)
        try await requireNoLiveToken(of: versions, tolerating: tolerance, next: next, after: end, display) {
            try await reader.holdings(of: versions, in: self, at: $0, tolerating: tolerance)
        }
    }

    /// The same at the `end` of the versions' use, over a ledger that `read` reads.
    func requireNoLiveToken(
        of versions: [String], tolerating tolerance: ClockTolerance = .standard, next: RemintCommand,
        after end: EndOfUse, _ display: any ProgressDisplay, read: (UnixTime) async throws -> CampaignHoldings
    ) async throws {
        let pending = try await end.wait(for: versions, display)
        let now = self.now()
        let holdings = try await read(now)
        guard holdings.isClear else { throw TokensLive(holdings, in: self, at: now, tolerance) }
        if let pending { throw UseNotOver(holdings.first.version, pending, next: next) }
    }

    /// Returns the tokens of the revoked `version`, and of the ring's other revoked ones, once workers add none.
    ///
    /// - Throws: `KeyRingError`, or the error that keeps the ledger from being read.
    package func finalReading(
        of version: String, brokers: String, logger: Logger, display: any ProgressDisplay
    ) async throws -> FinalReading {
        let reader = LedgerReader(configuration, brokers: brokers, logger: logger, display: display)
        let end = EndOfUse(of: self, brokers: brokers, logger: logger)
        return try await finalReading(of: version, after: end, display) {
            try await reader.holdings(of: $0, in: self, at: now())
        }
    }

    /// The same at the `end` of the version's use, over a ledger that `read` reads.
    func finalReading(
        of version: String, after end: EndOfUse, _ display: any ProgressDisplay,
        read: ([String]) async throws -> CampaignHoldings
    ) async throws -> FinalReading {
        let versions = try withRevoked(version)
        let pending = try await end.wait(for: versions, display)
        return FinalReading(holdings: try await read(versions), pending: pending)
    }

    /// Returns the command that asks for new tokens for the users of `version`.
    package func reissueCommand(of version: String) -> String {
        RemintCommand("reissue --ledger", ring: ring.name, "--key-id", version).description
    }
}

extension LedgerReader {
    /// Returns the tokens of `versions` of `ring` that may live at `now`, from one reading.
    ///
    /// - Parameters:
    ///   - versions: at least one; the first one is the version in question.
    ///   - tolerance: the bound on how far `now` may be ahead.
    package func holdings(
        of versions: [String], in ring: RingInUse, at now: UnixTime, tolerating tolerance: ClockTolerance = .standard
    ) async throws -> CampaignHoldings {
        let ledgerRing = ring.ledgerRing
        let filter = LedgerFilter(versions: versions, of: ledgerRing)
        let found = try await holdings(at: tolerance.earliest(at: now), matching: filter)
        return CampaignHoldings(found, versions: versions, of: ledgerRing, in: ring.configuration)
    }
}

extension CampaignHoldings {
    /// The tokens of `versions` in `found`, which were read for `ring`.
    package init(
        _ found: LedgerHoldings, versions: [String], of ring: LedgerRing, in configuration: Configuration
    ) {
        let apps = Set(configuration.apps.map(\.name))
        let all = versions.map { VersionHoldings(found, version: $0, of: ring, apps: apps) }
        self.init(
            all.first ?? VersionHoldings(found, version: "", of: ring, apps: apps), Array(all.dropFirst()))
    }
}
