/// A parser that splits a stream of server-sent events (HTML, section 9.2) into its events.
package struct EventParser {
    /// An event with its name and its data.
    package struct Event: Equatable {
        package let name: String
        package let data: String

        package init(name: String, data: String) {
            self.name = name
            self.data = data
        }
    }

    /// The error of a line with more than 1,048,576 bytes. Every event of the gateway is shorter.
    package struct LineTooLong: Error {}

    private static let limit = 1 << 20

    /// The seconds before a client connects again, from the server's field `retry`; nil until the server has sent this
    /// field.
    package private(set) var retry: Double?
    private var line: [UInt8] = []
    private var name = ""
    private var data: [String] = []

    package init() {}

    /// Reads the next bytes and returns the events that these bytes complete.
    ///
    /// - Throws: `LineTooLong` if a line has more than 1,048,576 bytes.
    package mutating func read(_ bytes: some Sequence<UInt8>) throws(LineTooLong) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            guard byte == 0x0A else {
                line.append(byte)
                if line.count > Self.limit { throw LineTooLong() }
                continue
            }
            if line.last == 0x0D { line.removeLast() }
            if let event = finishLine() { events.append(event) }
            line.removeAll(keepingCapacity: true)
        }
        return events
    }

    /// Reads the field of a complete line. If the line is empty, returns the event that this line completes.
    ///
    /// Returns nil if the line is not empty, or if the event has no data.
    private mutating func finishLine() -> Event? {
        guard !line.isEmpty else {
            defer { (name, data) = ("", []) }
            return data.isEmpty ? nil : Event(name: name, data: data.joined(separator: "\n"))
        }
        let parts = line.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
        var value = String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
        if value.hasPrefix(" ") { value.removeFirst() }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "event": name = value
        case "data": data.append(value)
        case "retry": retry = Self.retry(value) ?? retry
        default: break
        }
        return nil
    }

    /// Returns the seconds of a `retry` field, which has milliseconds: at least half a second and at most an hour.
    ///
    /// Returns nil if the field is not a number of 1 to 7 digits.
    private static func retry(_ text: String) -> Double? {
        guard 1...7 ~= text.utf8.count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Double(text).map { min(max($0 / 1000, 0.5), 3600) }
    }
}
