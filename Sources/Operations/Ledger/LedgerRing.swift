import AdapterKit

/// A key ring, for telling its tokens from those of other rings: versions of two rings may have the same id.
package struct LedgerRing: Sendable, Equatable {
    /// The ring of a token.
    package enum Owner: Sendable, Equatable {
        /// This one.
        case this
        /// Another one of the configuration.
        case other
        /// The record names none that the configuration has, or one that has no such version: its name was another ring's then. Or
        /// the record names none at all, and its app has none with the version.
        case unknown
    }

    private let name: String
    private let rings: Set<String>
    /// The ring of each app of today.
    private let apps: [String: String]
    /// The ids of each ring's versions, whatever their states; a ring behind a signer is left out.
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

    /// The ring of the tokens that `label` names. Records of before records named the ring are matched by today's apps.
    package func owner(of label: LedgerLabel) -> Owner {
        if let ring = label.ring {
            guard rings.contains(ring) else { return .unknown }
            // A ring keeps every version that it ever had, so one without it has its name from another ring.
            if let known = versions[ring], !known.contains(label.keyID) { return .unknown }
            return ring.hasSameBytes(as: name) ? .this : .other
        }
        guard let ring = apps[label.app] else { return .unknown }
        if ring.hasSameBytes(as: name) { return .this }
        // An app that was moved: its old tokens are of a version that its ring of today does not have.
        guard let known = versions[ring] else { return .unknown }
        return known.contains(label.keyID) ? .other : .unknown
    }
}
