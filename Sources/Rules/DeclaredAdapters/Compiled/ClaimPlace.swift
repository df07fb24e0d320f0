import AdapterKit

/// The place in a token's claims that holds one thing, such as the user: the names that lead there and the text around
/// it.
struct ClaimPlace: Sendable {
    let path: [String]
    private let prefix: String
    private let suffix: String
    /// Whether the value is a part of a URL there.
    private let isInURL: Bool

    /// The first place in `claims` that holds `part`, or `value` by itself; nil where there is none.
    init?(of part: TextPart, or value: Claim.Value, in claims: [Claim]) {
        self.init(of: part, or: value, in: claims, under: [])
    }

    private init?(of part: TextPart, or value: Claim.Value, in claims: [Claim], under path: [String]) {
        for claim in claims where claim.nameParts == nil {
            let here = path + [claim.name]
            switch claim.value {
            case value:
                (self.path, prefix, suffix, isInURL) = (here, "", "", false)
                return
            case .text(let parts):
                let isInURL = part == .user && parts.contains(.userInURL)
                guard let place = Self.surroundings(of: isInURL ? .userInURL : part, in: parts) else { continue }
                (self.path, prefix, suffix, self.isInURL) = (here, place.prefix, place.suffix, isInURL)
                return
            case .object(let inside):
                guard let found = ClaimPlace(of: part, or: value, in: inside, under: here) else { continue }
                self = found
                return
            default: continue
            }
        }
        return nil
    }

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
        for name in path {
            guard let inside = value[name] else { return nil }
            value = inside
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
