import AdapterKit
import DeclaredAdapters
import Pipeline
import WorkerConfiguration
import YAMLReading
import Yams

/// Reads `expect`.
struct ExpectationReader {
    private typealias Keys = Configuration.Tests.Expectation

    private let parent: Section
    private let section: Section
    private var diagnostics: Diagnostics { section.diagnostics }

    init(_ test: Section) {
        parent = test
        section = test.section(Keys.section)
    }

    private static let outcomes = [
        Outcome.minted, .superseded(.burst), .skipped(""), .deferred(tier: 0, .appSuspended),
        .deadLettered(.malformedEvent),
    ].map(\.name)

    func read() -> Expectation? {
        defer { section.finish() }
        guard parent.value(of: Keys.section) != nil else {
            parent.missing(
                Keys.section.name, "\(parent.path(of: Keys.section)) is missing; write it, as in { outcome: minted }")
            return nil
        }
        let node = section.value(of: Keys.outcome)
        if node == nil { _ = section.requiredText(Keys.outcome.name, example: Keys.outcome.description.example) }
        let outcome = section.word(Keys.outcome.name, of: Self.outcomes)
        let code = code(of: outcome)
        let token = token(of: outcome)
        let rest = (text(Keys.reason), text(Keys.because), text(Keys.topic), text(Keys.key), headers())
        guard let outcome, let node else { return nil }
        return Expectation(
            place: diagnostics.place(of: section.node),
            outcome: Placed(value: outcome, place: diagnostics.place(of: node)), code: code, reason: rest.0,
            because: rest.1, topic: rest.2, key: rest.3, headers: rest.4, token: token)
    }

    private func text(_ key: FileKey<String>) -> Placed<String>? {
        section.placed(key).map { Placed(value: $0.value, place: diagnostics.place(of: $0.node)) }
    }

    private func headers() -> [(name: String, value: Placed<String>)] {
        guard let headers = section.read(Keys.headers) else { return [] }
        return headers.all.compactMap { _, name, _ in
            headers.text(name).map { (name, Placed(value: $0.text, place: diagnostics.place(of: $0.node))) }
        }
    }

    /// - Parameter outcome: the outcome's name; nil where it is none.
    private func code(of outcome: String?) -> Placed<String>? {
        guard let node = section.value(of: Keys.code) else { return nil }
        let codes = ErrorCode.allCases.map(\.rawValue)
        let known: [String]? =
            switch outcome {
            case "dead_lettered": codes
            case "deferred": codes + [Deferral.appSuspended.name, Deferral.awaitingLookup.name]
            case "superseded": Supersession.allCases.map(\.rawValue)
            default: nil
            }
        if let known {
            return section.word(Keys.code.name, of: known).map { Placed(value: $0, place: diagnostics.place(of: node)) }
        }
        if outcome != nil {
            section.error(Keys.code, at: section.key(of: Keys.code), "goes with dead_lettered, deferred or superseded")
        }
        return nil
    }

    // MARK: The token

    private static let tokenKeys: [any DeclaredMember] =
        [Keys.user, Keys.ids, Keys.challenge, Keys.lives, Keys.sealedFor] + Keys.header.all + Keys.payload.all

    private func token(of outcome: String?) -> Expectation.Token {
        for key in Self.tokenKeys {
            guard section.value(of: key) != nil, let outcome, outcome != Outcome.minted.name else { continue }
            section.error(key, at: section.key(of: key), "goes with outcome: minted")
        }
        if section.value(of: Keys.user) != nil, section.value(of: Keys.ids) != nil {
            section.error(Keys.user, at: section.key(of: Keys.ids), "stands here too; keep one of them")
        }
        let lives = section.placed(Keys.lives).map {
            Placed(value: $0.value.components.seconds, place: diagnostics.place(of: $0.node))
        }
        return Expectation.Token(
            user: text(Keys.user), ids: json(Keys.ids), challenge: text(Keys.challenge), lives: lives,
            sealedFor: text(Keys.sealedFor), header: part(Keys.header), payload: part(Keys.payload))
    }

    private func part(_ keys: Keys.Part) -> Expectation.Part {
        Expectation.Part(exact: json(keys.exact), has: json(keys.has), lacks: names(keys.lacks))
    }

    private func json(_ key: FileKey<Node>) -> PlacedJSON? {
        guard let node = section.read(key) else { return nil }
        return section.json(key.name).map { PlacedJSON(json: $0, places: places(of: node)) }
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

    private func names(_ key: FileKey<[Node]>) -> [Placed<String>] {
        (section.read(key) ?? []).compactMap { node in
            node.scalar.map { Placed(value: $0.string, place: diagnostics.place(of: node)) }
        }
    }
}
