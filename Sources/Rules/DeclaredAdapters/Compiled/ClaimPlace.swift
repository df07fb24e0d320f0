import AdapterKit

/// The place in a token's claims that holds one thing, such as the user: the names and elements that lead there and the text
/// around it.
struct ClaimPlace: Sendable {
    private enum Step: Sendable {
        case member(String)
        /// An element of an array, from 0 on.
        case element(Int)
    }

    private let path: [Step]
    private let prefix: String
    private let suffix: String
    /// Whether the value is a part of a URL there.
    private let isInURL: Bool

    /// The first place in `claims` that holds `part`, or `value` by itself; nil where there is none.
    init?(of part: TextPart, or value: Claim.Value, in claims: [Claim]) {
        self.init(of: part, or: value, in: claims, under: [])
    }

    private init?(of part: TextPart, or value: Claim.Value, in claims: [Claim], under path: [Step]) {
        for claim in claims where claim.nameParts == nil {
            guard let found = ClaimPlace(of: part, or: value, in: claim.value, at: path + [.member(claim.name)])
            else { continue }
            self = found
            return
        }
        return nil
    }

    private init?(of part: TextPart, or value: Claim.Value, in holder: Claim.Value, at here: [Step]) {
        switch holder {
        case value: (path, prefix, suffix, isInURL) = (here, "", "", false)
        case .text(let parts):
            let isInURL = part == .user && parts.contains(.userInURL)
            guard let place = Self.surroundings(of: isInURL ? .userInURL : part, in: parts) else { return nil }
            (path, prefix, suffix, self.isInURL) = (here, place.prefix, place.suffix, isInURL)
        case .object(let inside):
            guard let found = ClaimPlace(of: part, or: value, in: inside, under: here) else { return nil }
            self = found
        case .array(let elements):
            // Behind an element that may be left out, the places differ from token to token.
            let fixed = elements.prefix { if case .ifFound = $0 { false } else { true } }
            let found = fixed.enumerated().lazy.compactMap {
                ClaimPlace(of: part, or: value, in: $0.element, at: here + [.element($0.offset)])
            }
            guard let first = found.first else { return nil }
            self = first
        default: return nil
        }
    }

    /// The name of the claim that holds it.
    var claim: String? { if case .member(let name)? = path.first { name } else { nil } }

    /// Returns the text before and after the only `part`; nil where that text differs from token to token.
    private static func surroundings(of part: TextPart, in parts: [TextPart]) -> (prefix: String, suffix: String)? {
        var texts = [""]
        for other in parts {
            if other == part {
                texts.append("")
            } else if case .constant(let text) = other {
                texts[texts.count - 1] += text
            } else {
                return nil
            }
        }
        return texts.count == 2 ? (texts[0], texts[1]) : nil
    }

    /// Returns the text at the place in `claims`; nil where the place is missing or holds something else.
    func text(in claims: JSONValue?) -> String? {
        guard var value = claims else { return nil }
        for step in path {
            switch step {
            case .member(let name):
                guard let inside = value[name] else { return nil }
                value = inside
            case .element(let place):
                let elements = value.elements
                guard place < elements.count else { return nil }
                value = elements[place]
            }
        }
        guard let text = value.string else { return nil }
        guard !prefix.isEmpty || !suffix.isEmpty else { return text }
        let bytes = Array(text.utf8)
        guard bytes.count > prefix.utf8.count + suffix.utf8.count, bytes.starts(with: prefix.utf8),
            bytes.reversed().starts(with: suffix.utf8.reversed())
        else { return nil }
        let found = bytes[prefix.utf8.count..<(bytes.count - suffix.utf8.count)]
        guard isInURL else { return String(decoding: found, as: UTF8.self) }
        // Only what we would write ourselves: a vendor compares the URL as it is.
        return PercentEncoding.decoded(found).flatMap {
            Array(PercentEncoding.encoded($0).utf8) == Array(found) ? $0 : nil
        }
    }
}
