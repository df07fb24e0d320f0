import AdapterKit
import DeclaredAdapters
import Pipeline
import WorkerConfiguration
import YAMLReading
import Yams

/// Reads `expect`.
struct ExpectationReader {
    private let parent: Section
    private let section: Section
    private var diagnostics: Diagnostics { section.diagnostics }

    /// A reader of the expectations of `test`.
    init(_ test: Section) {
        parent = test
        section = test.section("expect")
    }

    /// The names of outcomes.
    private static let outcomes = [
        Outcome.minted, .superseded(.burst), .skipped(""), .deferred(tier: 0, .appSuspended),
        .deadLettered(.malformedEvent),
    ].map(\.name)

    func read() -> Expectation? {
        defer { section.finish() }
        guard parent.value("expect") != nil else {
            diagnostics.error(parent.node, "\(parent.path("expect")) is missing; write it, as in { outcome: minted }")
            return nil
        }
        let node = section.value("outcome")
        if node == nil { _ = section.requiredText("outcome", example: "minted") }
        let outcome = section.word("outcome", of: Self.outcomes)
        let code = code(of: outcome)
        let token = token(of: outcome)
        let rest = (text("reason"), text("because"), text("topic"), text("key"), headers())
        guard let outcome, let node else { return nil }
        return Expectation(
            place: diagnostics.place(of: section.node),
            outcome: Placed(value: outcome, place: diagnostics.place(of: node)), code: code, reason: rest.0,
            because: rest.1, topic: rest.2, key: rest.3, headers: rest.4, token: token)
    }

    private func text(_ name: String) -> Placed<String>? {
        section.text(name).map { Placed(value: $0.text, place: diagnostics.place(of: $0.node)) }
    }

    private func headers() -> [(name: String, value: Placed<String>)] {
        guard section.value("headers") != nil else { return [] }
        let headers = section.section("headers")
        return headers.all.compactMap { _, name, _ in
            headers.text(name).map { (name, Placed(value: $0.text, place: diagnostics.place(of: $0.node))) }
        }
    }

    /// - Parameter outcome: the outcome's name; nil where it is none.
    private func code(of outcome: String?) -> Placed<String>? {
        guard let node = section.value("code") else { return nil }
        let codes = ErrorCode.allCases.map(\.rawValue)
        let known: [String]? =
            switch outcome {
            case "dead_lettered": codes
            case "deferred": codes + [Deferral.appSuspended.name, Deferral.awaitingLookup.name]
            case "superseded": Supersession.allCases.map(\.rawValue)
            default: nil
            }
        if let known {
            return section.word("code", of: known).map { Placed(value: $0, place: diagnostics.place(of: node)) }
        }
        if outcome != nil {
            diagnostics.error(
                section.key("code"), "\(section.path("code")) goes with dead_lettered, deferred or superseded")
        }
        return nil
    }

    // MARK: The token

    private static let tokenNames = ["user", "ids", "challenge", "lives", "sealed_for"]
    private static let partNames = ["header", "payload"].flatMap { [$0, "\($0)_has", "\($0)_lacks"] }

    private func token(of outcome: String?) -> Expectation.Token {
        for name in Self.tokenNames + Self.partNames {
            guard section.value(name) != nil, let outcome, outcome != Outcome.minted.name else { continue }
            diagnostics.error(section.key(name), "\(section.path(name)) goes with outcome: minted")
        }
        if section.value("user") != nil, section.value("ids") != nil {
            diagnostics.error(section.key("ids"), "\(section.path("user")) stands here too; keep one of them")
        }
        let lives = section.duration("lives", in: Configuration.Tests.lives).map {
            Placed(value: $0.components.seconds, place: diagnostics.place(of: section.value("lives")))
        }
        return Expectation.Token(
            user: text("user"), ids: json("ids"), challenge: text("challenge"), lives: lives,
            sealedFor: text("sealed_for"), header: part("header"), payload: part("payload"))
    }

    private func part(_ name: String) -> Expectation.Part {
        Expectation.Part(exact: json(name), has: json("\(name)_has"), lacks: names("\(name)_lacks"))
    }

    private func json(_ name: String) -> PlacedJSON? {
        guard let node = section.value(name) else { return nil }
        guard node.mapping != nil else {
            diagnostics.error(node, "\(section.path(name)) must be a mapping of names to values")
            return nil
        }
        return section.json(name).map { PlacedJSON(json: $0, places: places(of: node)) }
    }

    private func places(of node: Node) -> PlacedJSON.Places {
        var places = PlacedJSON.Places(place: diagnostics.place(of: node))
        switch node {
        case .mapping(let mapping):
            for (key, value) in mapping { places.members[key.scalar?.string ?? ""] = self.places(of: value) }
        case .sequence(let sequence): places.elements = sequence.map { self.places(of: $0) }
        case .scalar, .alias: break
        }
        return places
    }

    private func names(_ name: String) -> [Placed<String>] {
        guard let node = section.value(name) else { return [] }
        guard let nodes = node.sequence, !nodes.isEmpty, nodes.allSatisfy({ $0.scalar != nil }) else {
            diagnostics.error(node, "\(section.path(name)) must be a list of names, as in [aud]")
            return []
        }
        return nodes.compactMap { node in
            node.scalar.map { Placed(value: $0.string, place: diagnostics.place(of: node)) }
        }
    }
}
