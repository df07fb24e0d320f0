public import AdapterKit

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
    public struct SigningPolicy: Sendable, Equatable {
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
        Key rings, each under its name: folders with keyring.json and the key files beside it, mode 600. Or rings that a signer \
        holds, under another account (remint signer --config FILE --socket PATH).
        """,
        sections: [
            SectionDescription(
                "*", "", keys: [pathKey, signerKey],
                sections: [
                    SectionDescription(
                        "policy",
                        """
                        What remint signer signs with the ring; it belongs in the signer's configuration, beside path, and in none of a \
                        worker's that names a signer.
                        """, keys: Configuration.SigningPolicy.keys, isRare: true)
                ])
        ], ifAbsent: .refused)

    static let pathKey = KeyDescription("path", .path, example: "keys/shop-braze", change: .reloads, "The folder.")
    static let signerKey = KeyDescription(
        "signer", .path, example: "/run/remint/signer.sock", "The signer's socket, in place of path.")
}

extension Configuration.SigningPolicy {
    static let keys = [algorithmsKey, longestLifeKey, issuerKey]

    static let algorithmsKey = KeyDescription(
        "algorithms", .list(of: .choice(Algorithm.allCases.flatMap(\.names))), example: "[RS256]",
        "The algorithms that are signed with. Default: all that the ring's keys are for.")
    static let lifeRange: ClosedRange<Duration> = .seconds(1)...longest
    static let longestLifeKey = KeyDescription(
        "longest_life", .duration(lifeRange), standard: DurationText.format(longest), "How far ahead exp may lie.")
    static let issuerKey = KeyDescription("issuer", .text, example: "shop", "What iss must be. Default: anything.")
}
