/// The entity tags of `If-None-Match` (RFC 9110, sections 8.8.3 and 13.1.2), compared weakly, because a proxy that
/// compresses an answer turns its strong tag into a weak one.
struct EntityTags: Sendable, Equatable {
    private var tags: Set<Substring> = []
    private var isAny = false

    /// Parses the tags in the values of the field, in order. Text that is no tag matches nothing.
    init(_ values: [String]) {
        for value in values { read(Substring(value)) }
    }

    /// Returns whether one of the tags matches the strong tag `tag`.
    func contain(_ tag: String) -> Bool { isAny || tags.contains(Substring(tag)) }

    /// The versions of tokens that the tags name.
    var versions: [Int64] {
        tags.compactMap { tag in Int64(tag.dropFirst().dropLast()) }
    }

    private mutating func read(_ value: Substring) {
        var rest = value
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
            if rest.isEmpty { return }
            if rest.first == "*" {
                isAny = value.allSatisfy { "* \t".contains($0) }
                return
            }
            if rest.hasPrefix("W/") { rest = rest.dropFirst(2) }
            // A tag may hold a comma, so that the list is not split at commas.
            guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return }
            tags.insert(rest[...end])
            rest = rest[rest.index(after: end)...]
        }
    }
}
