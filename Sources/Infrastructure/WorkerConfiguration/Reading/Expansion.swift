import Yams

/// Replaces references to the environment in every scalar of a tree, keeping its place.
struct Expansion {
    let environment: (String) -> String?
    let diagnostics: Diagnostics
    /// The number of nodes that may still be visited. A file without aliases has no more nodes than bytes. Aliases of
    /// aliases can expand to more nodes than any machine can hold.
    var budget: Int

    mutating func expand(_ node: Node) -> Node {
        guard budget >= 0 else { return node }
        budget -= 1
        if budget < 0 {
            diagnostics.error(node, "aliases of aliases stand for more than the whole file; write out what is meant")
        }
        switch node {
        case .scalar(let scalar): return .scalar(complete(scalar, node))
        case .mapping(var mapping):
            for index in mapping.indices { mapping[index] = (mapping[index].key, expand(mapping[index].value)) }
            return .mapping(mapping)
        case .sequence(var sequence):
            for index in sequence.indices { sequence[index] = expand(sequence[index]) }
            return .sequence(sequence)
        case .alias: return node
        }
    }

    private func complete(_ scalar: Node.Scalar, _ node: Node) -> Node.Scalar {
        guard scalar.string.contains("${") else { return scalar }
        var scalar = scalar
        do throws(EnvironmentReferences.Problem) {
            scalar.string = try EnvironmentReferences.expand(scalar.string, environment)
            // A quoted style would keep a number from being read as one.
            scalar.style = .any
            diagnostics.complete(node)
        } catch {
            switch error {
            case .undefined(let name):
                diagnostics.refuse(
                    node, "the environment variable \(name) is not defined; write ${\(name):-default} for a default")
            case .control(let name):
                diagnostics.refuse(
                    node, "the environment variable \(name) has a control character, such as a line end; remove it")
            case .malformed:
                diagnostics.refuse(node, "a reference to the environment is written ${NAME} or ${NAME:-default}")
            }
        }
        return scalar
    }
}
