package import AdapterKit
import Keyring
import WorkerConfiguration

extension RingInUse {
    /// The ring among the configured ones, for telling its tokens from those of other rings.
    package var ledgerRing: LedgerRing {
        var versions: [String: Set<String>] = [:]
        for key in configuration.keys {
            guard let path = key.path, let listing = try? KeyRingDirectory(path: path).readListing() else { continue }
            versions[key.name] = Set(listing.versions.map(\.id))
        }
        return LedgerRing(
            ring.name, among: Set(configuration.keys.map(\.name)),
            apps: Dictionary(configuration.apps.map { ($0.name, $0.key) }) { first, _ in first }, versions: versions)
    }
}

extension LedgerReader {
    /// The tokens of `version` of `ring` that may live at `now`.
    ///
    /// - Parameter tolerance: how far `now` may be ahead.
    /// - Throws: `KafkaError` or `MissingTopic`.
    package func holdings(
        of version: String, in ring: RingInUse, at now: UnixTime, tolerating tolerance: ClockTolerance = .standard
    ) async throws -> VersionHoldings {
        let ledgerRing = ring.ledgerRing
        let filter = LedgerFilter(keyID: version, ring: ledgerRing)
        let found = try await holdings(at: tolerance.earliest(at: now), matching: filter)
        return VersionHoldings(
            found, version: version, of: ledgerRing, apps: Set(ring.configuration.apps.map(\.name)))
    }
}
