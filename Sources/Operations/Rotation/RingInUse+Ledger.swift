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

    /// The names of the rings of `configuration` that have a version `id`.
    package static func names(havingVersion id: String, in configuration: Configuration) -> [String] {
        versions(in: configuration).filter { $0.value.contains(id) }.map(\.key).sorted()
    }

    /// The ids of each ring's versions. A folder that cannot be read has none: what its name signed is of an unknown ring then.
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
