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

/// `${NAME}` and `${NAME:-default}` in a string.
enum EnvironmentReferences {
    /// The reason why a reference could not be replaced.
    enum Problem: Error, Equatable {
        case undefined(String)
        case control(String)
        case malformed
    }

    /// Returns `text` with every reference replaced. `$${` stands for `${`.
    static func expand(_ text: String, _ environment: (String) -> String?) throws(Problem) -> String {
        var output = ""
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            output += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                output += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else { throw .malformed }
                output += try value(of: rest[rest.index(rest.startIndex, offsetBy: 2)..<end], environment)
                rest = rest[rest.index(after: end)...]
            } else {
                output += "$"
                rest = rest.dropFirst()
            }
        }
        return output + rest
    }

    private static func value(of reference: Substring, _ environment: (String) -> String?) throws(Problem) -> String {
        var name = reference
        var fallback: Substring?
        // A reference ends at the first brace: one inside another's default would be cut in two.
        guard !reference.contains("${") else { throw .malformed }
        if let separator = reference.indices.first(where: { reference[$0...].hasPrefix(":-") }) {
            name = reference[..<separator]
            fallback = reference[separator...].dropFirst(2)
        }
        guard !name.isEmpty, name.allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw .malformed
        }
        if var value = environment(String(name)), !(value.isEmpty && fallback != nil) {
            // As of a file: `echo` writes a line end behind a secret.
            if value.last?.isNewline == true { value.removeLast() }
            // Of several lines is PEM alone.
            let isPEM = value.hasPrefix("-----BEGIN ")
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || isPEM && ($0 == 0x0A || $0 == 0x0D) }) else {
                throw .control(String(name))
            }
            return value
        }
        guard let fallback else { throw .undefined(String(name)) }
        return String(fallback)
    }
}
