/// The subject of a token: a user and, where the vendor's tokens answer a challenge, its nonce.
///
/// Two subjects are the same only byte for byte: ids are opaque to us, and Swift's own `==` on strings would take two
/// spellings of an accented letter for one user.
public struct Subject: Sendable, Hashable {
    /// The vendor's way to name a user.
    public enum Identity: Sendable {
        /// A single id.
        case user(String)
        /// Several ids by name, sorted by name (Bloomreach).
        case identifiers([Identifier])
    }

    /// An id of a user who has several.
    public struct Identifier: Sendable {
        /// The id's name, as the vendor calls it.
        public let name: String
        /// The id.
        public let value: String

        /// The id `value` of the name `name`.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The user.
    public let identity: Identity
    /// The nonce the token must hold. Such a subject is never coalesced and its token never reused.
    public let challenge: String?

    /// The user with this id.
    public init(user: String, challenge: String? = nil) {
        identity = .user(user)
        self.challenge = challenge
    }

    /// The user with these ids, which are sorted by the bytes of their names here.
    public init(identifiers: [Identifier]) {
        identity = .identifiers(identifiers.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        challenge = nil
    }

    /// The single id; nil for a user with named ids.
    public var user: String? {
        guard case .user(let user) = identity else { return nil }
        return user
    }

    /// The same user without a challenge: the subject of a look-up.
    public var withoutChallenge: Subject { challenge == nil ? self : user.map { Subject(user: $0) } ?? self }

    /// Returns the subject key: the app and each part of the subject, percent-encoded and joined by slashes.
    package func key(app: String) -> [UInt8] { key(after: Self.keyStart(app: app)) }

    /// Returns the beginning of the subject keys of `app`: the app, percent-encoded.
    package static func keyStart(app: String) -> [UInt8] { ByteWriter.bytes { PercentEncoding.encode(app, to: &$0) } }

    /// Returns the subject key that begins with `start`, which an app makes once.
    package func key(after start: [UInt8]) -> [UInt8] {
        ByteWriter.bytes { key in
            key.append(start)
            switch identity {
            case .user(let user):
                key.append(UInt8(ascii: "/"))
                PercentEncoding.encode(user, to: &key)
            case .identifiers(let identifiers):
                for identifier in identifiers {
                    key.append(UInt8(ascii: "/"))
                    PercentEncoding.encode(identifier.name, to: &key)
                    key.append(UInt8(ascii: "="))
                    PercentEncoding.encode(identifier.value, to: &key)
                }
            }
            if let challenge {
                key.append(UInt8(ascii: "/"))
                PercentEncoding.encode(challenge, to: &key)
            }
        }
    }

    /// Whether both subjects have the same key at an app.
    public static func == (left: Subject, right: Subject) -> Bool {
        left.key(app: "").elementsEqual(right.key(app: ""))
    }

    /// Hashes the key that `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(key(app: "")) }

    /// Writes the identity as the object under `subject` in a replacement token.
    package func write(to output: inout ByteWriter) {
        switch identity {
        case .user(let user):
            output.append(#"{"user":"#)
            output.append(quoting: user)
        case .identifiers(let identifiers):
            output.append("{")
            for (index, identifier) in identifiers.enumerated() {
                if index > 0 { output.append(",") }
                output.append(quoting: identifier.name)
                output.append(":")
                output.append(quoting: identifier.value)
            }
        }
        output.append("}")
    }
}
