/// A vendor's rule for a user's id: its length, its characters, and the ids that the vendor reserves.
///
/// An adapter declares it (`Adapter.identifiers`), and one place checks the id of every report, vouched user and
/// re-issue against it. Ids are opaque otherwise. No vendor accepts control characters. They end lines in logs and
/// headers, and NUL ends a string in much other software, which would take two different ids for the same.
public struct IdentifierRule: Sendable, Equatable {
    /// The longest id.
    public let limit: IdentifierLimit
    /// The characters of ids; nil for any.
    public let characters: IdentifierCharacters?
    /// Ids that no user has: the vendor means something else by them.
    public let never: [String]
    /// The lengths of `never` in bytes, a bit each; from 63 on they share one. Most ids have none of them.
    private let reservedLengths: UInt64

    /// Ids of at most `limit`, of `characters`, and none of `never`.
    public init(
        _ limit: IdentifierLimit = .standard, characters: IdentifierCharacters? = nil, never: [String] = []
    ) {
        self.limit = limit
        self.characters = characters
        self.never = never
        reservedLengths = never.reduce(0) { $0 | Self.bit(ofLength: $1.utf8.count) }
    }

    private static func bit(ofLength length: Int) -> UInt64 { 1 << UInt64(min(length, 63)) }

    /// The rule of a vendor that states none: 1,024 bytes and no control characters.
    public static let standard = IdentifierRule()

    /// Returns the same rule, under which the ids `more` are reserved too.
    public func excluding(_ more: [String]) -> IdentifierRule {
        IdentifierRule(limit, characters: characters, never: never + more)
    }

    /// Returns the reason `subject` may have no token, without the id itself; nil where it may have one.
    package func refusal(of subject: Subject) -> String? {
        let found: String? =
            switch subject.identity {
            case .user(let user): fault(of: user).map { "the user's id \($0)" }
            case .identifiers(let identifiers): fault(of: identifiers)
            }
        if let found { return found }
        guard let challenge = subject.challenge else { return nil }
        return Self.standard.fault(of: challenge).map { "the challenge \($0)" }
    }

    private func fault(of identifiers: [Subject.Identifier]) -> String? {
        for identifier in identifiers {
            if let fault = Self.standard.fault(of: identifier.name) { return "an id's name \(fault)" }
            if let fault = fault(of: identifier.value) { return "an id \(fault)" }
        }
        return nil
    }

    /// Returns the fault of `identifier`; nil where it may be a user's id.
    func fault(of identifier: String) -> String? {
        guard limit.admits(identifier) else { return "is longer than \(limit.text)" }
        guard !identifier.isEmpty else { return "is empty" }
        if Self.hasControls(identifier) { return "holds a control character" }
        if let characters, !characters.admits(identifier) { return "holds characters other than \(characters.text)" }
        if isReserved(identifier) { return "is one that the vendor reserves" }
        if Self.isBlank(identifier) { return "is nothing but white space" }
        return nil
    }

    private func isReserved(_ identifier: String) -> Bool {
        reservedLengths & Self.bit(ofLength: identifier.utf8.count) != 0
            && never.contains { $0.hasSameBytes(as: identifier) }
    }

    private static func isBlank(_ text: String) -> Bool {
        // Most ids begin with visible ASCII, which asks no table of Unicode.
        if let first = text.utf8.first, (0x21...0x7E).contains(first) { return false }
        return text.unicodeScalars.allSatisfy { $0.properties.isWhitespace }
    }

    /// Returns whether `text` contains a control character (C0, DEL, C1).
    private static func hasControls(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 || byte == 0x7F { return true }
            // U+0080 to U+009F.
            if byte == 0xC2, index + 1 < bytes.count, bytes[index + 1] < 0xA0 { return true }
        }
        return false
    }
}
