package import AdapterKit

/// Where a JSON value is not as a test says.
package struct JSONDifference: Sendable, Equatable {
    /// A step into a value.
    package enum Step: Sendable, Hashable {
        case member(String)
        case element(Int)
    }

    /// The way to it from the top.
    package let path: [Step]
    /// What the test says, as JSON; nil where there should be nothing.
    package let expected: [UInt8]?
    /// What is there, as JSON; nil for nothing.
    package let seen: [UInt8]?
}

/// How much of a value a test speaks of.
package enum JSONExtent: Sendable {
    /// All of it.
    case exact
    /// The members it names; an object may have others.
    case subset
}

extension JSONValue {
    /// Where this is not `expected`, whatever the members' order. Numbers are the same where they are written the same.
    package func differences(from expected: JSONValue, _ extent: JSONExtent) -> [JSONDifference] {
        differences(from: expected, extent, at: [])
    }

    private func differences(
        from expected: JSONValue, _ extent: JSONExtent, at path: [JSONDifference.Step]
    ) -> [JSONDifference] {
        if expected.isObject, isObject {
            let missing = expected.members.flatMap { name, value -> [JSONDifference] in
                let path = path + [.member(name)]
                guard let own = self[name] else {
                    return [JSONDifference(path: path, expected: value.json, seen: nil)]
                }
                return own.differences(from: value, extent, at: path)
            }
            guard extent == .exact else { return missing }
            return missing
                + members.filter { expected[$0.name] == nil }.map { name, value in
                    JSONDifference(path: path + [.member(name)], expected: nil, seen: value.json)
                }
        }
        if expected.isArray, isArray, expected.elements.count == elements.count {
            return zip(elements, expected.elements).enumerated().flatMap { index, pair in
                pair.0.differences(from: pair.1, extent, at: path + [.element(index)])
            }
        }
        return isSameLeaf(as: expected) ? [] : [JSONDifference(path: path, expected: expected.json, seen: json)]
    }

    private func isSameLeaf(as other: JSONValue) -> Bool {
        guard !isObject, !isArray else { return false }
        if let text = string { return text.hasSameBytes(as: other.string) }
        return !other.isString && json == other.json
    }
}
