package import AdapterKit
import Keyring
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
