package import YAMLReading
package import Yams

extension Configuration.Tests {
    /// The expected outcome of a test.
    package enum Expectation {
        package static let section = SectionDescription(
            "expect", "What must come of it. What is not written here is not looked at.", keys: keys.map(\.passedOver),
            ifAbsent: .nothing)

        private static let keys = [
            outcome.description, code.description, reason.description, because.description, topic.description,
            key.description, headers.description, user.description, ids.description, challenge.description,
            lives.description, header.exact.description, header.has.description, header.lacks.description,
            payload.exact.description, payload.has.description, payload.lacks.description, sealedFor.description,
        ]

        package static let outcome = DeclaredKey.word(
            "outcome", of: ["minted", "superseded", "skipped", "deferred", "dead_lettered"], example: "minted",
            "How the event ends. Has to be there.")
        package static let code = DeclaredKey.anyText(
            "code", example: "missing_user",
            "A dead letter's code, or why the event is deferred or superseded; see remint codes.")
        package static let reason = DeclaredKey.anyText(
            "reason", example: "EXPIRED", "The vendor's name of the failure.")
        package static let because = DeclaredKey.anyText(
            "because", example: "no app", "Strings that the dead letter's detail must contain.")
        package static let topic = DeclaredKey.anyText(
            "topic", form: .topic, example: "remint.tokens", "The topic that the outcome is published to.")
        package static let key = DeclaredKey.anyText(
            "key", example: "shop-ios/u-42", "The key of the record that is published.")
        package static let headers = DeclaredKey.mapping(
            "headers", .texts, example: "{ remint-error-stage: decode }", "Headers that it has.")

        // MARK: The token

        package static let user = DeclaredKey.anyText("user", example: "u-42", "The token's user.")
        package static let ids = object(
            "ids", .texts, example: "{ registered: ann@example.com }", "The same, where the vendor knows several ids.")
        package static let challenge = DeclaredKey.anyText(
            "challenge", example: "n-1", "The challenge that the token answers.")
        package static let lives = DeclaredKey.duration(
            "lives", in: .seconds(1)...(.seconds(400 * 86_400)), example: "12h", "From the token's issue to its end.")
        package static let header = Part(
            exact: object("header", example: "{ alg: RS256, typ: JWT }", "The token's header, all of it."),
            has: object("header_has", example: "{ alg: RS256 }", "Members that the token's header has."),
            lacks: names("header_lacks", example: "[kid]", "Members that it has not."))
        package static let payload = Part(
            exact: object("payload", example: "{ sub: u-42 }", "The token's claims, all of them."),
            has: object("payload_has", example: "{ sub: u-42 }", "Claims that the token has."),
            lacks: names("payload_lacks", example: "[aud]", "Claims that it has not."))
        package static let sealedFor = DeclaredKey.anyText(
            "sealed_for", example: "pickup-1", "The kid of the recipient that the token is sealed for.")

        /// The keys of one part of a token.
        package struct Part: Sendable {
            package let exact: DeclaredKey<Node>
            package let has: DeclaredKey<Node>
            package let lacks: DeclaredKey<[Node]>

            package var all: [any DeclaredMember] { [exact, has, lacks] }
        }

        private static func object(
            _ name: String, _ form: ValueForm = .json, example: String, _ summary: String
        ) -> DeclaredKey<Node> {
            DeclaredKey(KeyDescription(name, form, example: example, summary)) { section, name in
                guard let node = section.value(name) else { return nil }
                guard node.mapping != nil else {
                    section.diagnostics.error(node, "\(section.path(name)) must be a mapping of names to values")
                    return nil
                }
                return node
            }
        }

        private static func names(_ name: String, example: String, _ summary: String) -> DeclaredKey<[Node]> {
            DeclaredKey(KeyDescription(name, .list(of: .text), example: example, summary)) { section, name in
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
