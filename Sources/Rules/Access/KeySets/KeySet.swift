public import JOSE

/// An issuer's keys, by their ids.
///
/// They come from a JWK Set (RFC 7517, section 5) or from the operator. Keys of a set that cannot verify a session are
/// skipped: an issuer may publish keys for other purposes and of kinds that are not known here yet.
public struct KeySet: Sendable {
    /// The longest JWK Set, in bytes.
    public static let mostBytes = 256 << 10
    /// The most members of a set.
    public static let mostKeys = 100
    /// The longest key id, in bytes. A key with a longer one is passed over, a token with one has no key.
    public static let longestKeyID = 1024

    /// The number of skipped members.
    public let skipped: Int
    private let all: [VerificationKey]
    /// The keys by the bytes of their ids: `String` considers two spellings of one letter equal.
    private let named: [[UInt8]: [VerificationKey]]
    private let unnamed: [VerificationKey]
    private let thumbprints: Set<String>

    /// A JWK Set.
    ///
    /// Members that are `null` or an empty array count as absent. A member is passed over when it names one of its own twice, when its type, curve or `alg` is unknown or not among `algorithms`, when `use` or
    /// `key_ops` are for something other than verifying, when it is weak, and when it is not a public key. A key without
    /// `alg` serves every one of `algorithms` that its type allows.
    ///
    /// - Throws: `KeySetError`, but for `.weakSecret`. `.noUsableKey` is thrown for a document that is a JWK Set all the same.
    public init(parsing document: [UInt8], algorithms: Set<Algorithm>) throws(KeySetError) {
        guard document.count <= Self.mostBytes else { throw .tooLarge }
        // A key that names a member twice is no reason to do without the others: it alone is passed over.
        var limits = JSONDocument.Limits(bytes: Self.mostBytes)
        limits.allowsDuplicates = true
        let text = document.starts(with: TextMark.utf8) ? TextMark.utf8.count..<document.count : document.indices
        let parsed = try? JSONDocument(parsing: document, in: text, limits: limits)
        guard let root = parsed?.root, !root.namesMemberTwice, let members = root["keys"], members.isArray else {
            throw .notAKeySet
        }
        let elements = members.elements
        guard elements.count <= Self.mostKeys else { throw .tooManyKeys }
        let usable = elements.map { Self.keys(from: $0, for: algorithms) }
        guard usable.contains(where: { !$0.isEmpty }) else { throw .noUsableKey }
        self.init(usable.flatMap(\.self), skipped: usable.count(where: \.isEmpty))
    }

    /// Keys that were given by hand: public keys, or shared secrets.
    ///
    /// - Throws: `KeySetError` with `.noUsableKey` or `.weakSecret`.
    public init(_ keys: [VerificationKey]) throws(KeySetError) {
        guard !keys.isEmpty else { throw .noUsableKey }
        let isWeak = keys.contains { key in key.secret.map { $0.count < key.algorithm.digestBytes } ?? false }
        guard !isWeak else { throw .weakSecret }
        self.init(keys, skipped: 0)
    }

    private init(_ keys: [VerificationKey], skipped: Int) {
        all = keys
        self.skipped = skipped
        named = Dictionary(grouping: keys.filter { $0.keyID != nil }) { Array(($0.keyID ?? "").utf8) }
        unnamed = keys.filter { $0.keyID == nil }
        thumbprints = Set(keys.compactMap { key in (try? JWK.thumbprint(of: key)) ?? nil })
    }

    /// The number of keys; a key that serves two algorithms counts twice.
    public var count: Int { all.count }

    func holds(_ thumbprint: String) -> Bool { thumbprints.contains(thumbprint) }

    /// Returns the keys that may have signed a token with this `kid`: those with that id; where there is none, those
    /// without an id. A token without `kid` may be signed by any key. nil where there is none at all.
    func candidates(for keyID: String?, generation: Int) -> KeyCandidates? {
        if let keyID, let keys = named[Array(keyID.utf8)] {
            return KeyCandidates(keys: keys, areNamed: true, generation: generation)
        }
        let keys = keyID == nil ? all : unnamed
        return keys.isEmpty ? nil : KeyCandidates(keys: keys, areNamed: false, generation: generation)
    }

    private static func keys(from member: JSONValue, for algorithms: Set<Algorithm>) -> [VerificationKey] {
        guard member.isObject, !member.namesMemberTwice, isForVerifying(member) else { return [] }
        if let keyID = member.jwkMember("kid") {
            guard let text = keyID.string, text.utf8.count <= longestKeyID else { return [] }
        }
        return (try? JWK.publicKeys(from: member, for: algorithms)) ?? []
    }

    /// Returns whether the key may verify (RFC 7517, sections 4.2 and 4.3).
    private static func isForVerifying(_ member: JSONValue) -> Bool {
        if let use = member.jwkMember("use"), use.string != "sig" { return false }
        if let operations = member.jwkMember("key_ops") {
            return operations.elements.contains { $0.string == "verify" }
        }
        return true
    }
}

/// The reason why a document cannot replace the current set of keys.
public enum KeySetError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The document has more bytes than the limit.
    case tooLarge
    /// The document is not JSON, or no object with an array `keys` (RFC 7517, section 5).
    case notAKeySet
    /// The document has more members than the limit.
    case tooManyKeys
    /// A key set without a key that verifies with an algorithm that is allowed: no key at all, or only others. It is the
    /// issuer's answer all the same, and withdraws the keys of before.
    case noUsableKey
    /// A shared secret that is shorter than its algorithm's digest (RFC 7518, section 3.2).
    case weakSecret

    /// The error in words, without an answer's content.
    public var description: String {
        switch self {
        case .tooLarge: "the key set is longer than \(KeySet.mostBytes) bytes"
        case .notAKeySet: "not a JWK Set: an object with an array \"keys\""
        case .tooManyKeys: "the key set has more than \(KeySet.mostKeys) members"
        case .noUsableKey: "the key set has no key for the algorithms that are allowed"
        case .weakSecret: "a shared secret is shorter than its algorithm's digest"
        }
    }
}

/// A JWK Set as it came.
public struct KeySetDocument: Sendable, Hashable {
    /// The document.
    public let bytes: [UInt8]
    /// The time for which the document declares itself fresh; nil where it declares none.
    public let maxAge: Duration?

    /// A document that is fresh for `maxAge`.
    public init(bytes: [UInt8], maxAge: Duration? = nil) {
        self.bytes = bytes
        self.maxAge = maxAge
    }

    /// A document that came with this `Cache-Control` (RFC 9111, section 5.2.2).
    public init(bytes: [UInt8], cacheControl: String?) {
        self.init(bytes: bytes, maxAge: cacheControl.flatMap(Self.maxAge))
    }

    private static func maxAge(_ cacheControl: String) -> Duration? {
        var found: Duration?
        for directive in cacheControl.lowercased().split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            if directive == "no-store" || directive == "no-cache" { return .zero }
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == "max-age" else { continue }
            // What does not fit is a very long time (section 1.2.2).
            let digits = parts[1].filter { $0 != "\"" }
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            found = .seconds(min(Int64(digits) ?? .max, 1 << 31))
        }
        return found
    }
}

extension JSONValue {
    /// Whether the object names a member twice. Two readers may disagree on which one counts (RFC 7517, section 4).
    var namesMemberTwice: Bool {
        var seen: Set<[UInt8]> = []
        return members.contains { !seen.insert(Array($0.name.utf8)).inserted }
    }
}
