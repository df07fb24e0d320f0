package import JOSE

/// The end of a version that its ring needs, as `retire_after` sets it: of the version that signs, or of one that the open
/// campaign makes sign. No token outlives it.
package struct KeyEnd: Sendable, Equatable {
    /// The nearness of an end. Each stage is logged once.
    package enum Stage: Int64, Sendable, Comparable, CaseIterable {
        /// The end is over.
        case over = 0
        /// The end is less than 1 day away.
        case day = 1
        /// The end is less than 7 days away.
        case week = 7
        /// The end is less than 30 days away, long enough for a campaign.
        case month = 30

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The ring's name.
    package let ring: String
    /// The version's id.
    package let version: String
    /// Whether the version signs; otherwise a campaign is to make it sign.
    package let isSigning: Bool
    /// The end.
    package let end: UnixTime

    /// The end of `version` of `ring`.
    package init(ring: String, version: String, isSigning: Bool, end: UnixTime) {
        self.ring = ring
        self.version = version
        self.isSigning = isSigning
        self.end = end
    }

    /// Returns the nearness of the end; nil while it is 30 days away or more.
    package func stage(at now: UnixTime) -> Stage? {
        // A version is over at its end, and not only after it.
        Stage.allCases.first { stage in
            let limit = now.advanced(bySeconds: stage.rawValue * 86_400)
            return stage == .over ? end <= limit : end < limit
        }
    }

    /// Returns the warning with the command that replaces the key; nil while the end is 30 days away or more.
    package func warning(at now: UnixTime) -> String? {
        guard let stage = stage(at: now) else { return nil }
        let time = stage == .over ? "retired at \(end)" : "retires at \(end), in \(now.left(until: end))"
        guard isSigning else {
            return
                "the version \(version) of the key ring \(ring), which the open campaign makes sign, \(time); begin a campaign to a later one: \(RemintCommand("rotate abort", ring: ring)), then: \(RemintCommand("rotate prepare", ring: ring))"
        }
        let effect = stage == .over ? ", and signs no token" : ""
        return
            "the active version \(version) of the key ring \(ring) \(time)\(effect); replace it: \(RemintCommand("rotate prepare", ring: ring))"
    }
}

extension RingReport {
    /// The ends of the versions that the ring needs: the active one, and the one that an open campaign makes sign.
    package var ends: [KeyEnd] {
        let next = campaign.flatMap { $0.phase.isOver ? nil : $0.to }
        return versions.compactMap { version in
            guard version.state == .active || version.id == next && version.state.verifies,
                let end = version.retireAfter
            else { return nil }
            return KeyEnd(ring: name, version: version.id, isSigning: version.state == .active, end: end)
        }
    }
}
