package import YAMLReading
package import Yams

extension Configuration.Tests {
    /// The expected outcome of a test.
    package enum Expectation {
        package static let section = SectionDescription(
            "expect", "Expected result of the event. The test compares only the keys that this section contains.",
            keys: keys.map { $0.changing(.passedOver) }, ifAbsent: .nothing)

        private static let keys = [
            outcome.description, code.description, reason.description, because.description, topic.description,
            key.description, headers.description, user.description, ids.description, challenge.description,
            lives.description, header.exact.description, header.has.description, header.lacks.description,
            payload.exact.description, payload.has.description, payload.lacks.description, sealedFor.description,
        ]

        package static let outcome = FileKey.word(
            "outcome", of: ["minted", "superseded", "skipped", "deferred", "dead_lettered"], example: "minted",
            "Expected outcome of the event. Every test needs this key.")
        package static let code = FileKey.anyText(
            "code", example: "missing_user",
            """
            Expected code of the outcome: the dead letter's code, or the reason why the event is deferred or \
            superseded. remint codes lists the codes.
            """)
        package static let reason = FileKey.anyText(
            "reason", example: "EXPIRED", "Expected reason: the vendor's name for the failure.")
        package static let because = FileKey.anyText(
            "because", example: "no app", "String that the dead letter's detail must contain.")
        package static let topic = FileKey.anyText(
            "topic", form: .topic, example: "remint.tokens", "Expected topic of the published record.")
        package static let key = FileKey.anyText(
            "key", example: "shop-ios/u-42", "Expected key of the published record.")
        package static let headers = FileKey.mapping(
            "headers", .mapping(of: .scalar), example: "{ remint-error-stage: decode }",
            "Headers that the published record must have.")

        // MARK: The token

        package static let user = FileKey.anyText("user", example: "u-42", "Expected user of the token.")
        package static let ids = object(
            "ids", .mapping(of: .scalar), example: "{ registered: ann@example.com }",
            "Expected ids of the token's user, instead of user, for a vendor with several ids for each user.")
        package static let challenge = FileKey.anyText(
            "challenge", example: "n-1", "Expected challenge that the token answers.")
        package static let lives = FileKey.duration(
            "lives", in: .seconds(1)...(.seconds(400 * 86_400)), example: "12h",
            "Expected lifetime of the token, from its issue to its expiry.")
        package static let header = Part(
            exact: object("header", example: "{ alg: RS256, typ: JWT }", "Complete header that the token must have."),
            has: object("header_has", example: "{ alg: RS256 }", "Members that the token's header must have."),
            lacks: names("header_lacks", example: "[kid]", "Names that the token's header must not have."))
        package static let payload = Part(
            exact: object("payload", example: "{ sub: u-42 }", "Complete claims that the token must have."),
            has: object("payload_has", example: "{ sub: u-42 }", "Claims that the token must have."),
            lacks: names("payload_lacks", example: "[aud]", "Names of claims that the token must not have."))
        package static let sealedFor = FileKey.anyText(
            "sealed_for", example: "pickup-1", "Expected kid of the recipient of the sealed token.")

        /// The keys of one part of a token.
        package struct Part: Sendable {
            package let exact: FileKey<Node>
            package let has: FileKey<Node>
            package let lacks: FileKey<[Node]>

            package var all: [any DeclaredMember] { [exact, has, lacks] }
        }

        private static func object(
            _ name: String, _ form: FileForm = .any, example: String, _ summary: String
        ) -> FileKey<Node> {
            FileKey(name, form, example: example, summary) { section, name in
                guard let node = section.value(name) else { return nil }
                guard node.mapping != nil else {
                    section.diagnostics.error(node, "\(section.path(name)) must be a mapping of names to values")
                    return nil
                }
                return node
            }
        }

        private static func names(_ name: String, example: String, _ summary: String) -> FileKey<[Node]> {
            FileKey(name, .list(of: .text(), count: 1...Int.max), example: example, summary) { section, name in
                guard let node = section.value(name) else { return nil }
                guard let nodes = node.sequence, !nodes.isEmpty, nodes.allSatisfy({ $0.scalar != nil }) else {
                    section.diagnostics.error(node, "\(section.path(name)) must be a list of names, as in [aud]")
                    return nil
                }
                return Array(nodes)
            }
        }
    }
}
