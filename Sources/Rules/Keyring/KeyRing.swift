public import JOSE

/// The versions of one signing key.
public struct KeyRing: Sendable {
    /// The ring's name in the configuration.
    public let name: String
    /// The ring's versions, in the order of the file.
    public let versions: [KeyVersion]

    /// A ring of one active version that is on no disk.
    package init(name: String, active key: SigningKey, id: String, secretEncoding: SecretEncoding?) {
        self.name = name
        versions = [
            KeyVersion(
                id: id, state: .active, algorithm: key.algorithm, secretEncoding: secretEncoding, retireAfter: nil,
                signingKey: key, retiredKey: nil)
        ]
    }

    init(name: String, versions: [KeyVersion]) {
        self.name = name
        self.versions = versions
    }

    /// The version that signs; nil where it was revoked and no other was promoted yet.
    public var active: KeyVersion? { versions.first { $0.state == .active } }

    /// Returns the ring without the versions that do not satisfy `isKept`.
    package func keeping(_ isKept: (KeyVersion) -> Bool) -> KeyRing {
        KeyRing(name: name, versions: versions.filter(isKept))
    }

    /// Every key a vendor may hold of this ring.
    public var verificationKeys: [VerificationKey] { versions.compactMap(\.verificationKey) }
}

/// The reason why a key ring cannot be used: the place, the error and the fix. It never contains a byte of a key.
public struct KeyRingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file with the error.
    public let file: String
    /// The error's line in that file, from 1, where it has lines.
    public let line: Int?
    /// The error's column in that line, from 1, where the file has lines.
    public let column: Int?
    /// The error and its fix.
    public let message: String
    /// Whether a test's crash came in between.
    package let isInterruption: Bool

    init(interrupted file: String) {
        (self.file, line, column, message, isInterruption) = (file, nil, nil, "the writing was interrupted", true)
    }

    package init(_ file: String, at value: JSONValue? = nil, _ message: String) {
        self.file = file
        line = value?.position.line
        column = value?.position.column
        self.message = message
        isInterruption = false
    }

    /// An error at the byte `offset` of the file's `text`, where there is one.
    init(_ file: String, at offset: Int?, in text: [UInt8], _ message: String) {
        self.file = file
        self.message = message
        isInterruption = false
        guard let offset else {
            (line, column) = (nil, nil)
            return
        }
        let before = text.prefix(offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1
    }

    /// The error in words, with its place in the file.
    public var description: String {
        guard let line, let column else { return "\(file): \(message)" }
        return "\(file):\(line):\(column): \(message)"
    }
}

extension JSONError {
    /// The offset of the error in the text; nil if the error concerns the whole text.
    var offset: Int? {
        switch self {
        case .syntax(let at), .invalidUTF8(let at), .duplicateMember(let at): at
        case .empty, .tooLarge, .tooDeep: nil
        }
    }
}
