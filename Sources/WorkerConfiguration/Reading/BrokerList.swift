/// The brokers' addresses, as `kafka.bootstrap_servers` and `--brokers` name them: `host:port`, several separated by commas.
///
/// librdkafka accepts whatever it is given: it takes a port modulo 65,536, reads `;` as part of a name and drops what follows a `/`.
public struct BrokerList: Sendable, Equatable {
    /// The mistake in a list, and its fix.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        /// One line for a person.
        public let description: String
    }

    /// One address.
    public struct Address: Sendable, Equatable {
        /// The protocol it names, such as `SASL_SSL`; nil where it names none.
        public let scheme: String?
        /// The host's name or address, an IPv6 address without its brackets.
        public let host: String
        /// The port; nil for Kafka's own, 9092.
        public let port: UInt16?

        /// Whether it is an address of this machine.
        public var isLocal: Bool {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return host == "localhost" || host == "::1"
                || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        }

        fileprivate var text: String {
            let host = host.contains(":") ? "[\(host)]" : host
            return (scheme.map { "\($0)://" } ?? "") + host + (port.map { ":\($0)" } ?? "")
        }
    }

    /// The addresses, in the order of the list.
    public let addresses: [Address]

    /// The list as librdkafka takes it.
    public var text: String { addresses.map(\.text).joined(separator: ",") }

    /// Reads `text`.
    ///
    /// - Throws: `Problem` for anything but addresses.
    public init(_ text: String) throws(Problem) {
        guard !text.contains(";") else {
            throw Problem(description: "separate the brokers with commas, not with \";\"")
        }
        var addresses: [Address] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            addresses.append(try Self.address(part.trimmingSpaces))
        }
        self.addresses = addresses
    }

    private static let schemes = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]

    private static func address(_ text: Substring) throws(Problem) -> Address {
        guard !text.isEmpty else { throw Problem(description: "a broker's address is empty; write host:port") }
        var scheme: String?
        var rest = text
        if let slashes = text.firstRange(of: "://") {
            let name = text[..<slashes.lowerBound].uppercased()
            guard schemes.contains(name) else {
                throw Problem(
                    description:
                        "\"\(text)\" has a protocol that is none of Kafka's; write \(schemes.joined(separator: ", ")), or host:port alone"
                )
            }
            scheme = name
            rest = text[slashes.upperBound...]
        }
        guard !rest.contains("/") else {
            throw Problem(description: "\"\(text)\" has a path; a broker's address is host:port")
        }
        let (host, port) = try split(rest, of: text)
        return Address(
            scheme: scheme, host: host, port: try port.map { (port) throws(Problem) in try number(port, of: text) })
    }

    private static func split(_ rest: Substring, of text: Substring) throws(Problem) -> (String, Substring?) {
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]"), isIPv6(rest[rest.index(after: rest.startIndex)..<end]) else {
                throw Problem(description: "\"\(text)\" is no IPv6 address in brackets; write [::1]:9092")
            }
            let host = String(rest[rest.index(after: rest.startIndex)..<end])
            let tail = rest[rest.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else {
                throw Problem(
                    description: "\"\(text)\" has something behind its brackets that is no port; write [::1]:9092")
            }
            return (host, tail.isEmpty ? nil : tail.dropFirst())
        }
        let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count < 2 || !parts[1].contains(":") else {
            throw Problem(description: "\"\(text)\" has several colons; write an IPv6 address in brackets, [::1]:9092")
        }
        guard isHost(parts[0]) else {
            throw Problem(description: "\"\(text)\" names no host; write host:port")
        }
        return (String(parts[0]), parts.count == 2 ? parts[1] : nil)
    }

    private static func number(_ port: Substring, of text: Substring) throws(Problem) -> UInt16 {
        let isDecimal = !port.isEmpty && port.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDecimal, let number = UInt16(port), number > 0 else {
            throw Problem(description: "\"\(text)\" has no port from 1 to 65535 behind its colon")
        }
        return number
    }

    /// Names as DNS and Compose have them; what looks like an IPv4 address is one.
    private static func isHost(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, labels.allSatisfy(isLabel) else { return false }
        let isNumeric = labels.allSatisfy { label in label.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        return !isNumeric || labels.count == 4 && labels.allSatisfy { UInt8($0) != nil }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        !label.isEmpty && label.utf8.count <= 63 && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }

    /// Eight groups of hexadecimal digits, or fewer with one `::` (RFC 4291, section 2.2).
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
