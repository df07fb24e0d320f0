package import JOSE

/// A campaign that replaces one version of a ring by another, as a value: how far it is, and what may come next.
///
/// ```
/// prepared ─► promoted ─► canary ─► waves ─► reissued ─► retired
///     └──────────┴──────────┴─────────┴─────────┴─► aborted
/// ```
/// Every transition that was made already is none: a step can be repeated after a crash.
package struct Rotation: Sendable, Equatable {
    /// How far the campaign is.
    package enum Phase: String, Sendable, CaseIterable {
        /// The new version is in the ring and does not sign.
        case prepared
        /// The new version signs.
        case promoted
        /// The first few tokens are re-issued and watched.
        case canary
        /// The rest is re-issued.
        case waves
        /// Every token of the old version was asked for anew.
        case reissued
        /// The old version is of no further use.
        case retired
        /// The old version signs again.
        case aborted

        /// Whether the campaign is over.
        package var isOver: Bool { self == .retired || self == .aborted }
    }

    /// The version that is replaced.
    package let from: String
    /// The version that replaces it.
    package let to: String
    /// How far the campaign is.
    package private(set) var phase: Phase
    /// Why it is paused; nil where it is not.
    package private(set) var pause: String?
    /// When the campaign began.
    package let begun: UnixTime
    /// When the canary's tokens were asked for.
    package private(set) var canarySince: UnixTime?

    /// A campaign that begins.
    package init(from: String, to: String, at time: UnixTime) {
        self.from = from
        self.to = to
        phase = .prepared
        begun = time
    }

    /// The new version signs.
    ///
    /// - Throws: `RotationError` where the campaign is over.
    package mutating func promoted() throws(RotationError) {
        try requireOpen("promote")
        if phase == .prepared { phase = .promoted }
    }

    /// Re-issuing begins, or goes on.
    ///
    /// - Parameter isCautious: whether a canary goes first.
    /// - Throws: `RotationError` before the promotion, while it is paused, and where the campaign is over.
    package mutating func reissuing(isCautious: Bool, at time: UnixTime) throws(RotationError) {
        try requireOpen("reissue")
        if let pause { throw RotationError("the campaign is paused: \(pause); go on with: remint rotate resume") }
        switch phase {
        case .prepared: throw RotationError("\(to) does not sign yet; first: remint rotate promote")
        case .promoted:
            phase = isCautious ? .canary : .waves
            canarySince = time
        case .reissued: phase = .waves
        case .canary, .waves, .retired, .aborted: break
        }
    }

    /// The canary's tokens were not refused.
    package mutating func canaryPassed() { if phase == .canary { phase = .waves } }

    /// Every token of the old version was asked for anew.
    package mutating func reissued() { if phase == .waves { phase = .reissued } }

    /// Nothing more is sent until `resume`.
    ///
    /// - Throws: `RotationError` where the campaign is over.
    package mutating func pause(because reason: String) throws(RotationError) {
        try requireOpen("pause")
        pause = reason
    }

    /// Re-issuing may go on.
    package mutating func resume() { pause = nil }

    /// Back to the old version.
    ///
    /// - Throws: `RotationError` where the old version is retired.
    package mutating func abort() throws(RotationError) {
        guard phase != .aborted else { return }
        try requireOpen("abort")
        phase = .aborted
        pause = nil
    }

    /// The old version is of no further use.
    ///
    /// - Throws: `RotationError` before the promotion and after an abort.
    package mutating func retired() throws(RotationError) {
        guard phase != .retired else { return }
        try requireOpen("retire")
        guard phase != .prepared else { throw RotationError("\(from) still signs; first: remint rotate promote") }
        phase = .retired
        pause = nil
    }

    private func requireOpen(_ step: String) throws(RotationError) {
        guard !phase.isOver else {
            throw RotationError(
                "the campaign from \(from) to \(to) is \(phase.rawValue), so there is nothing to \(step); begin another with: remint rotate prepare"
            )
        }
    }

    // MARK: Text

    /// Reads what `json` wrote; nil for anything else.
    package init?(_ text: [UInt8]) {
        guard let root = try? JSONDocument(parsing: text).root, let from = root["from"]?.string,
            let to = root["to"]?.string, let phase = root["phase"]?.string.flatMap(Phase.init(rawValue:)),
            let begun = root["begun"]?.string.flatMap({ RFC3339.parse($0) })
        else { return nil }
        self.from = from
        self.to = to
        self.phase = phase
        self.begun = begun
        pause = root["paused"]?.string
        canarySince = root["canary_since"]?.string.flatMap { RFC3339.parse($0) }
    }

    /// The campaign's state as it is kept in `rotation.json`.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("from", from)
        json.member("to", to)
        json.member("phase", phase.rawValue)
        if let pause { json.member("paused", pause) }
        json.member("begun", begun.description)
        if let canarySince { json.member("canary_since", canarySince.description) }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }
}

/// Why a campaign cannot take a step, and what to do instead.
package struct RotationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Why.
    package let description: String

    /// A refusal because of `description`.
    package init(_ description: String) { self.description = description }
}
