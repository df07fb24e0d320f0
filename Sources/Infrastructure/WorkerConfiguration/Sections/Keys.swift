public import AdapterKit
import YAMLReading
import Yams

extension Configuration {
    /// A key ring.
    public struct Key: Sendable {
        /// The ring's name.
        public var name: String
        /// The ring's folder; nil for a ring that a signer holds.
        public var path: String?
        /// The socket of the signer that holds it; nil for a ring that is read from its folder.
        public var signer: String?
        /// The place of `path` or `signer` in the file.
        public var place: FileLocation
        /// The limits on a signer's signatures with the ring.
        public var policy = SigningPolicy()
    }

    /// The limits on a signer's signatures with a ring: it signs tokens of these terms and nothing else. `remint
    /// signer` enforces them.
    public struct SigningPolicy: Sendable, Equatable, WithDefaults {
        /// The longest life that a policy may allow, and its default. It is more than a year, which is longer than any
        /// vendor accepts. It is short enough that a stolen token expires.
        public static let longest = Duration.seconds(400 * 86_400)

        /// The algorithms that are signed with; nil for whatever the ring's keys are for. A key signs with its own in any case.
        public var algorithms: Set<Algorithm>?
        /// The longest time from now to `exp`, 1 s to 400 days.
        public var longestLife = longest
        /// The required value of `iss`; nil to accept any.
        public var issuer: String?

        /// The terms where nothing is written.
        public init() {}
    }
}

extension Configuration.Key {
    static let section = SectionDescription(
        "keys",
        """
        Key rings, each under its name. A ring is a folder with keyring.json and the key files, mode 600. Instead of a \
        folder, a signer can hold the ring: a process under another account (remint signer --config FILE --socket \
        PATH).
        """,
        sections: [
            SectionDescription(
                "*", "", keys: [pathKey.description, signerKey.description],
                sections: [Configuration.SigningPolicy.section])
        ], ifAbsent: .refused)

    /// Returns the full name of the ring `name`.
    static func fullName(of name: String) -> String { "\(section.name).\(name)" }

    static let pathKey = FileKey(
        "path", .path, example: "keys/shop-braze", change: .reloads, "Folder of the ring."
    ) { section, name in
        section.requiredText(
            name, example: "keys/shop-braze, or name a signer's socket with \(section.path(of: signerKey))")?.text
    }
    static let signerKey = FileKey.text(
        "signer", form: .path, example: "/run/remint/signer.sock",
        "Socket of the signer that holds the ring, instead of path.")
}

extension Configuration.SigningPolicy {
    static let section = SectionDescription(
        "policy",
        """
        Limits on the tokens that remint signer signs with the ring. Write this section into the signer's \
        configuration, in addition to path. In a worker's configuration, a ring with signer must not have this \
        section.
        """, keys: settings.map(\.description), isRare: true)

    static let settings: [Setting<Self>] = [
        Setting(algorithmsKey, ifPresent: \.algorithms),
        .duration("longest_life", \.longestLife, in: .seconds(1)...longest, "Longest time from now to a token's exp."),
        .text("issuer", ifPresent: \.issuer, example: "shop", "Required value of a token's iss. Default: any value."),
    ]

    private static let algorithmsKey = FileKey(
        "algorithms", .list(of: .choice(Algorithm.allCases.flatMap(\.names))), example: "[RS256]",
        "Algorithms that the signer may sign with. Default: the algorithms of the ring's keys.",
        readAlgorithms)

    /// Returns the algorithms in the key `name` of `section`; nil where it is absent or wrong.
    private static func readAlgorithms(_ section: Section, _ name: String) -> Set<Algorithm>? {
        guard let node = section.value(name) else { return nil }
        guard let names = node.sequence, !names.isEmpty else {
            section.diagnostics.error(node, "\(section.path(name)) must be a list such as [ES256]")
            return nil
        }
        var algorithms: Set<Algorithm> = []
        for each in names {
            guard let algorithm = each.string.flatMap(Algorithm.init(named:)) else {
                let known = Algorithm.allCases.flatMap(\.names).joined(separator: ", ")
                section.diagnostics.error(each, "\(section.path(name)) knows \(known)")
                return nil
            }
            algorithms.insert(algorithm)
        }
        return algorithms
    }
}
