package import AdapterKit
package import Pipeline

/// A record of the token topic, read for a `LedgerTable`. That needs no table, so that many records can be read at once.
package enum LedgerRecord: Sendable {
    /// A record of a subject that is not meant.
    case elsewhere
    /// A record that is no replacement token.
    case stranger
    /// A record that has the form of a replacement token and cannot be read.
    case unreadable
    case tombstone(SubjectHash)
    case token(SubjectHash, Token)

    /// The parts of a token that a table keeps.
    package struct Token: Sendable {
        let label: TokenLabel
        let version, issuedAt, expiresAt: Int64
        let isChallengeBound: Bool
    }

    /// Reads `record` at the time `now` for a table of the subjects of `slice`.
    package init(_ record: RecordBody, in slice: LedgerSlice, at now: UnixTime) {
        guard let key = record.key else {
            self = slice.isFirst ? .stranger : .elsewhere
            return
        }
        let hash = SubjectHash(key)
        guard slice.contains(hash) else {
            self = .elsewhere
            return
        }
        guard record.hasValue else {
            self = .tombstone(hash)
            return
        }
        do throws(RecordFault) {
            let token = try TokenRecord(record, at: now)
            self = .token(
                hash,
                Token(
                    label: token.label, version: token.version, issuedAt: token.issuedAt, expiresAt: token.expiresAt,
                    isChallengeBound: token.isChallengeBound))
        } catch { self = error == .foreign ? .stranger : .unreadable }
    }
}

/// A key ring, for telling its tokens from those of other rings: versions of two rings may have the same id.
package struct LedgerRing: Sendable, Equatable {
    package enum Owner: Sendable, Equatable {
        case this
        /// Another ring of the configuration.
        case other
        /// The record names no ring of the configuration, or a ring that has no such version: the name was another
        /// ring's then. Or the record names no ring at all, and its app has none with the version.
        case unknown
    }

    private let name: String
    private let rings: Set<String>
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

/// A subject key, read back: the token's app and user.
package struct SubjectKey: Sendable, Equatable {
    package let app: String
    /// The user, as a batch job names it under `reissue.user`: a JSON string, or an object of ids by name.
    package let user: [UInt8]

    /// Reads `key`; nil where a worker would not have written it, and for a subject with a challenge, which no batch
    /// job can answer.
    package init?(_ key: [UInt8]) {
        var parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count >= 2, let app = Self.text(parts.removeFirst()), !app.isEmpty else { return nil }
        self.app = app
        var json = JSONWriter()
        // An equals sign of an id is encoded, so that one that stands bare is between a name and a value.
        let isNamed = parts.allSatisfy { $0.contains(UInt8(ascii: "=")) }
        if isNamed {
            json.beginObject()
            for part in parts {
                let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2, let name = Self.text(halves[0]), let value = Self.text(halves[1]) else {
                    return nil
                }
                json.member(name, value)
            }
            json.endObject()
        } else {
            guard parts.count == 1, let user = Self.text(parts[0]), !user.isEmpty else { return nil }
            json.string(user)
        }
        user = json.bytes
    }

    /// Returns the reason why nobody can be asked for a token in the name of `key`, which is no subject key.
    package static func refusal(_ key: [UInt8]) -> String {
        let parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSpelled = parts.allSatisfy { part in
            part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .allSatisfy { text($0) != nil }
        }
        guard isSpelled, parts.count > 2 else {
            return "the record's key is none that a worker writes; nobody is asked for in its name"
        }
        return "the token answers a challenge, which only its device can renew"
    }

    /// Returns the text of a part of a key; nil where a worker would have written it differently. Two spellings of one
    /// user would cause two requests, and bytes that need encoding could end a line of a list.
    private static func text(_ part: ArraySlice<UInt8>) -> String? { PercentEncoding.text(writtenAs: part) }
}

/// A version that no ring lists and that no token of the ledger names: its id was misspelled, or it belongs to another
/// configuration.
package struct UnknownVersion: Error, CustomStringConvertible {
    package let description: String

    /// The refusal of the version `id`; nil where a ring lists it, or where `holdings`, which cover the whole ledger,
    /// have tokens of it, expired ones included.
    package init?(_ id: String, in holdings: LedgerHoldings, isListed: Bool) {
        guard !isListed, !holdings.list.contains(where: { $0.keyID.hasSameBytes(as: id) }) else { return nil }
        let counts = Dictionary(holdings.list.filter { $0.live > 0 }.map { ($0.keyID, $0.live) }, uniquingKeysWith: +)
        let known = counts.sorted { $0.key < $1.key }.prefix(20).map {
            "\(VersionHoldings.shown($0.key)) (\($0.value))"
        }
        let held = known.isEmpty ? "none at all" : "those of \(known.joined(separator: ", "))"
        description =
            "the ledger holds no live token of a version \(VersionHoldings.shown(id)), which no ring lists either; it holds \(held)"
    }
}
