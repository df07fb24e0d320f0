import Formats

/// The addresses that proxies name in a request's headers, from the caller's side to ours.
///
/// The leftmost hops may be the caller's own invention; each proxy appends on the right.
enum ForwardedHops {
    /// Returns the hops of `X-Forwarded-For` headers; nil for a hop that is no address.
    static func listed(in values: [String]) -> [IPAddress?] {
        values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map { node(trimmed($0)) } }
    }

    /// Returns the hops of `Forwarded` headers (RFC 7239, section 4); nil for a hop that is no address, and a single
    /// nil where the header's syntax is wrong.
    static func named(in values: [String]) -> [IPAddress?] {
        var hops: [IPAddress?] = []
        for value in values {
            guard let elements = split(value[...], at: ",") else { return [nil] }
            for element in elements {
                guard let pairs = split(element, at: ";") else { return [nil] }
                let named = pairs.filter { trimmed($0).lowercased().hasPrefix("for=") }
                hops.append(named.count == 1 ? node(unquoted(trimmed(named[0]).dropFirst(4))) : nil)
            }
        }
        return hops
    }

    /// Parses an address with or without port, IPv6 in brackets or not; nil for a name such as `unknown`.
    private static func node(_ text: some StringProtocol) -> IPAddress? {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            return rest.isEmpty || rest.first == ":" ? IPAddress(text[text.index(after: text.startIndex)..<end]) : nil
        }
        if let address = IPAddress(text) { return address }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? IPAddress(parts[0]) : nil
    }

    /// Splits at `separator` outside of quoted strings; nil where a quoted string does not end.
    private static func split(_ text: Substring, at separator: Character) -> [Substring]? {
        var parts: [Substring] = []
        var start = text.startIndex
        var (isQuoted, isEscaped) = (false, false)
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted {
                parts.append(text[start..<index])
                start = text.index(after: index)
            }
        }
        return isQuoted ? nil : parts + [text[start...]]
    }

    private static func unquoted(_ text: Substring) -> Substring {
        text.count >= 2 && text.first == "\"" && text.last == "\"" ? text.dropFirst().dropLast() : text
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
