import AdapterKit
import HTTPTypes
import Hummingbird

/// A call's parameters beside its path, within their bounds.
struct CallParameters {
    /// The shortest life that the token must have left, in seconds.
    let life: Int64
    /// The version that the token must exceed; nil for any version.
    let after: Int64?
    /// The time for which the call may wait; nil where the call names none.
    let wait: Duration?
    /// The challenge that the token must answer; nil for none.
    let challenge: String?
    /// The version that a stream's reader has; nil for none.
    let lastEvent: Int64?

    /// The longest wait, in seconds.
    static let longestWait = 30

    /// - Throws: `Problem` for a parameter that is duplicate, out of bounds or no number.
    init(_ request: Request) throws(Problem) {
        let query = request.uri.queryParameters
        func text(_ name: Substring) throws(Problem) -> String? {
            let values = query[values: name]
            guard values.count <= 1 else { throw Problem.invalid("\(name) is a duplicate") }
            return values.first.map(String.init)
        }
        func number(_ name: Substring, _ range: ClosedRange<Int64>) throws(Problem) -> Int64? {
            guard let text = try text(name) else { return nil }
            guard let number = Int64(text), range.contains(number) else {
                throw Problem.invalid("\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        life = try number("min_life", 0...86_400) ?? 60
        after = try number("after", 0...(.max))
        wait = try number("wait", 0...Int64(Self.longestWait)).map { .seconds($0) }
        challenge = try text("challenge")
        if let challenge, !(1...1024).contains(challenge.utf8.count) {
            throw Problem.invalid("challenge has 1 to 1024 bytes")
        }
        // The HTTP library puts this character in place of bytes that are not UTF-8: different challenges would be one.
        if challenge?.unicodeScalars.contains("\u{FFFD}") == true {
            throw Problem.invalid("challenge is UTF-8, percent-encoded")
        }
        let header = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }.flatMap { Int64($0) }
        let written = try number("last_event_id", 0...(.max))
        // A browser that reconnects by itself sends its latest version in the header, and its first one in the query.
        lastEvent = header ?? written
    }

    /// Returns the time for which a call for a token would wait; `standard` where the call names none and asks for any
    /// token.
    static func wait(of request: Request, standard: Duration) -> Duration {
        let query = request.uri.queryParameters
        if let seconds = query["wait"].flatMap({ Int64($0) }) {
            return .seconds(min(max(0, seconds), Int64(longestWait)))
        }
        return query["after"] == nil && query["challenge"] == nil ? standard : .zero
    }

    /// Returns the wait that a report's caller prefers, in seconds (RFC 7240, section 4.3); nil where the call names
    /// none.
    static func preferredWait(_ request: Request) -> Int? {
        for value in request.headers[values: HTTPField.Name("Prefer") ?? .accept] {
            for preference in value.split(separator: ",") {
                let text = preference.prefix { $0 != ";" }
                let parts: [Substring] = text.split(separator: "=").map(\.trimmed)
                guard parts.count == 2, parts[0].lowercased() == "wait", let seconds = Int(parts[1]), seconds >= 0
                else {
                    continue
                }
                return min(seconds, longestWait)
            }
        }
        return nil
    }
}

extension Substring {
    /// The text without spaces and quotes around it.
    fileprivate var trimmed: Substring {
        func isAround(_ character: Character) -> Bool { " \t\"".contains(character) }
        var text = drop(while: isAround)
        while let last = text.last, isAround(last) { text.removeLast() }
        return text
    }
}

/// The entity tags of `If-None-Match` (RFC 9110, sections 8.8.3 and 13.1.2), compared weakly, because a proxy that
/// compresses an answer turns its strong tag into a weak one.
struct EntityTags: Sendable, Equatable {
    private var tags: Set<Substring> = []
    private var isAny = false

    /// Parses the tags in the values of the field, in order. Text that is no tag matches nothing.
    init(_ values: [String]) {
        for value in values { read(Substring(value)) }
    }

    func contain(_ tag: String) -> Bool { isAny || tags.contains(Substring(tag)) }

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

/// The version of a token that a request shows its caller to have.
///
/// An instance may lag behind the one that handed out this version. So no older token is an answer to the request.
enum ShownVersion {
    /// The lead of a worker's clock up to which a version is possible, in seconds. It is the difference above which the
    /// gateway reports its own clock as wrong.
    private static let skew: Int64 = 300

    /// Returns the highest one of `versions` that a worker may have given by `now`; 0 where there is none. An impossible
    /// version is no token's, and must not keep its caller from every token.
    static func floor(_ versions: [Int64], at now: UnixTime) -> Int64 {
        let latest = now.advanced(bySeconds: skew).microseconds
        return versions.reduce(0) { $1 <= latest ? max($0, $1) : $0 }
    }
}
