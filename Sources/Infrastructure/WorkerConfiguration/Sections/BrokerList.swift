/// The brokers' addresses, as `kafka.bootstrap_servers` and `--brokers` name them: `host:port`, several separated by commas.
///
/// librdkafka accepts any text: it takes a port modulo 65,536, reads `;` as part of a name, drops everything behind a
/// `/`, and adds 9092 where a port is missing, which is wrong for most brokers with TLS.
public struct BrokerList: Sendable, Equatable {
    /// The mistake in a list, and its fix. It repeats nothing of the list, which may hold a password by mistake.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        /// The problem in one line, for people.
        public let description: String
    }

    /// An address.
    public struct Address: Sendable, Equatable {
        /// The protocol it names, such as `SASL_SSL`; nil where it names none.
        package let scheme: String?
        /// The host's name or address, an IPv6 address without its brackets.
        package let host: String
        package let port: UInt16

        /// Whether it is an address of this machine.
        package var isLocal: Bool {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return host == "localhost" || host == "::1"
                || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        }

        fileprivate var text: String {
            let host = host.contains(":") ? "[\(host)]" : host
            return (scheme.map { "\($0)://" } ?? "") + "\(host):\(port)"
        }
    }

    /// The addresses, in the order of the list.
    package let addresses: [Address]

    package var text: String { addresses.map(\.text).joined(separator: ",") }

    /// Reads `text`.
    ///
    /// - Throws: `Problem` for anything but addresses.
    package init(_ text: String) throws(Problem) {
        try Self.checkWhole(text)
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        var addresses: [Address] = []
        for (index, part) in parts.enumerated() {
            do throws(Mistake) { addresses.append(try Self.address(part.trimmingSpaces)) } catch {
                throw Problem(description: "\(parts.count == 1 ? "the address" : "address \(index + 1)") \(error.text)")
            }
        }
        self.addresses = addresses
    }

    /// A mistake in one address and its fix, such as `has no port; add :9092`.
    private struct Mistake: Error {
        let text: String

        init(_ text: String) { self.text = text }
    }

    private static func checkWhole(_ text: String) throws(Problem) {
        // First, as a password may hold any of the other characters.
        guard !text.contains("@") else {
            throw Problem(
                description:
                    "an address must not hold a user name or a password; write them as sasl.username and sasl.password_file under kafka.properties"
            )
        }
        guard !text.contains(";") else {
            throw Problem(description: "separate the brokers with commas, not with \";\"")
        }
        switch String(text[...].trimmingSpaces) {
        case "embedded":
            throw Problem(
                description: "embedded names no address here; write the one that the embedded broker's process logs")
        case let word where word.lowercased() == "embedded":
            throw Problem(description: "write embedded in small letters, or the brokers as host:port")
        default: break
        }
    }

    private static let schemes = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]

    private static func address(_ text: Substring) throws(Mistake) -> Address {
        guard !text.isEmpty else { throw Mistake("is empty; write host:port, with one comma between two brokers") }
        try checkSpaces(text)
        var scheme: String?
        var rest = text
        if let slashes = text.firstRange(of: "://") {
            let name = text[..<slashes.lowerBound].uppercased()
            guard schemes.contains(name) else {
                throw Mistake(
                    "has a protocol that is none of Kafka's; write \(schemes.joined(separator: ", ")), or host:port alone"
                )
            }
            scheme = name
            rest = text[slashes.upperBound...]
        }
        guard !rest.contains("/") else { throw Mistake("has a path; write host:port alone") }
        let (host, port) = try split(rest)
        return Address(scheme: scheme, host: host, port: try number(port))
    }

    private static func checkSpaces(_ text: Substring) throws(Mistake) {
        guard let space = text.firstIndex(where: \.isWhitespace) else { return }
        let isAtColon =
            text[..<space].last == ":" || text[space...].first { !$0.isWhitespace } == ":"
        throw Mistake(
            isAtColon ? "has a space beside its colon; remove it" : "has a space; separate brokers with commas")
    }

    private static func split(_ rest: Substring) throws(Mistake) -> (host: String, port: Substring) {
        let noPort = Mistake("has no port; add :9092, or the port of the brokers' listener")
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]"), isIPv6(rest[rest.index(after: rest.startIndex)..<end]) else {
                throw Mistake("is no IPv6 address in brackets; write one as [::1]:9092")
            }
            let host = String(rest[rest.index(after: rest.startIndex)..<end])
            let tail = rest[rest.index(after: end)...]
            guard !tail.isEmpty else { throw noPort }
            guard tail.hasPrefix(":") else {
                throw Mistake("has something behind its brackets that is no port; write it as [::1]:9092")
            }
            return (host, tail.dropFirst())
        }
        let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[1].contains(":") {
            throw Mistake(
                rest.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
                    ? "has several colons; write an IPv6 address in brackets, as in [::1]:9092"
                    : "has several colons; write host:port, and commas between brokers")
        }
        try checkHost(parts[0])
        guard parts.count == 2 else { throw noPort }
        return (String(parts[0]), parts[1])
    }

    private static func number(_ port: Substring) throws(Mistake) -> UInt16 {
        let isDecimal = !port.isEmpty && port.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDecimal, let number = UInt16(port), number > 0 else {
            throw Mistake("has no port from 1 to 65535 behind its colon")
        }
        return number
    }

    /// Checks a host: a name as DNS and Compose allow it, or an IPv4 address where it resembles one.
    private static func checkHost(_ host: Substring) throws(Mistake) {
        guard !host.isEmpty else { throw Mistake("names no host before its colon; write host:port") }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if labels.allSatisfy({ label in label.utf8.allSatisfy { (0x30...0x39).contains($0) } }) {
            guard labels.count == 4, labels.allSatisfy({ UInt8($0) != nil }) else {
                throw Mistake("is no IPv4 address; write four numbers from 0 to 255, as in 127.0.0.1:9092")
            }
        }
        guard host.utf8.count <= 253, labels.allSatisfy(isLabel) else {
            throw Mistake(
                "names no host; a host's name is of letters, digits, hyphens, underscores and single dots, and no part begins or ends with a hyphen or has more than 63 characters"
            )
        }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        !label.isEmpty && label.utf8.count <= 63 && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }

    /// Returns whether `host` is eight groups of hexadecimal digits, or fewer with one `::` (RFC 4291, section 2.2).
    private static func isIPv6(_ host: Substring) -> Bool {
        let halves = host.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return false }
        let groups = halves.filter { !$0.isEmpty }.flatMap {
            $0.split(separator: ":", omittingEmptySubsequences: false)
        }
        guard groups.allSatisfy({ (1...4).contains($0.utf8.count) && $0.allSatisfy { $0.isASCII && $0.isHexDigit } })
        else {
            return false
        }
        return halves.count == 2 ? groups.count < 8 : groups.count == 8
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
