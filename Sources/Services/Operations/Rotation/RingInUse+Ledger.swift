package import AdapterKit
package import Keyring
package import Logging
package import WorkerConfiguration

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
    /// - Throws: `KafkaError` or `MissingTopic`.
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
