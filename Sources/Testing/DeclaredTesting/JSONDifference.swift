package import AdapterKit

/// A place where a JSON value differs from a test's.
package struct JSONDifference: Sendable, Equatable {
    /// A step into a value.
    package enum Step: Sendable, Hashable {
        case member(String)
        case element(Int)
    }

    /// The way to it from the top.
    package let path: [Step]
    /// The test's value, as JSON; nil where the test expects none.
    package let expected: [UInt8]?
    /// The value that was found, as JSON; nil for none.
    package let seen: [UInt8]?
}

/// The extent to which a test compares a value.
package enum JSONExtent: Sendable {
    /// The whole value must be equal.
    case exact
    /// The members it names; an object may have others.
    case subset
}

extension JSONValue {
    /// Returns the places where this value differs from `expected`, whatever the members' order. Numbers are equal
    /// where they are written the same.
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
