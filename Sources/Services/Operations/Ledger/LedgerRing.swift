import AdapterKit

/// A key ring, for telling its tokens from those of other rings: versions of two rings may have the same id.
package struct LedgerRing: Sendable, Equatable {
    /// The ring of a token.
    package enum Owner: Sendable, Equatable {
        /// The ring itself.
        case this
        /// Another ring of the configuration.
        case other
        /// The record names no ring of the configuration, or a ring that has no such version: the name was another
        /// ring's then. Or the record names no ring at all, and its app has none with the version.
        case unknown
    }

    private let name: String
    private let rings: Set<String>
    /// The present ring of each app.
    private let apps: [String: String]
    /// The ids of each ring's versions, in any state; a ring behind a signer is left out.
    private let versions: [String: Set<String>]

    /// The ring `name` among `rings`.
    ///
    /// - Parameters:
    ///   - rings: the names of the configured rings.
    ///   - apps: the ring of each configured app.
    ///   - versions: the ids of each ring's versions, as far as they are known.
    package init(_ name: String, among rings: Set<String>, apps: [String: String], versions: [String: Set<String>]) {
        self.name = name
        self.rings = rings
        self.apps = apps
        self.versions = versions
    }

    /// Returns the ring of the tokens that `label` names. Records from before records named the ring are matched by the
    /// apps' present rings.
    package func owner(of label: LedgerLabel) -> Owner {
        if let ring = label.ring {
            guard rings.contains(ring) else { return .unknown }
            // A ring keeps every version that it ever had, so one without it has its name from another ring.
            if let known = versions[ring], !known.contains(label.keyID) { return .unknown }
            return ring.hasSameBytes(as: name) ? .this : .other
        }
        guard let ring = apps[label.app] else { return .unknown }
        if ring.hasSameBytes(as: name) { return .this }
        // The app may have been moved: its old tokens are of a version that its present ring does not have.
        guard let known = versions[ring] else { return .unknown }
        return known.contains(label.keyID) ? .other : .unknown
    }
}
