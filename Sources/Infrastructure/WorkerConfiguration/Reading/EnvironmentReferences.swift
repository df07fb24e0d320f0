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
