/// Comma-separated values (RFC 4180), byte by byte as they come in: quoted fields, doubled quotes, CRLF or LF, a byte order
/// mark, lines of any length up to a limit.
package struct CSVReader: Sendable {
    /// A record, or the problem of a line that is none.
    package struct Row: Sendable, Equatable {
        /// The line on which the row begins, from 1.
        package let line: Int
        /// The row's fields, without commas and quotes.
        package let fields: [[UInt8]]
        /// The row's problem; nil for a valid row.
        package let problem: String?
    }

    private enum State { case start, plain, quoted, quoteInQuoted, skipping }

    /// The longest row, in bytes.
    package static let limit = 64 << 10
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let delimiter: UInt8
    private var state = State.start
    private var field: [UInt8] = []
    private var fields: [[UInt8]] = []
    private var bytes = 0
    private var line = 1
    private var firstLine = 1
    private var problem: String?
    private var head: [UInt8]? = []
    private var wasReturn = false

    /// - Parameter delimiter: the byte between fields.
    package init(delimiter: UInt8 = UInt8(ascii: ",")) { self.delimiter = delimiter }

    /// Parses the next bytes.
    ///
    /// - Returns: the rows that these bytes complete.
    package mutating func take(_ chunk: some Sequence<UInt8>) -> [Row] {
        var rows: [Row] = []
        for byte in chunk { take(byte, &rows) }
        return rows
    }

    /// Ends the input.
    ///
    /// - Returns: the last row, where no line end follows it.
    package mutating func finish() -> [Row] {
        var rows: [Row] = []
        if let head {
            self.head = nil
            for byte in head { step(byte, &rows) }
        }
        if state == .quoted { problem = problem ?? "a quote is opened and not closed" }
        if state != .start || !fields.isEmpty { endRow(&rows) }
        return rows
    }

    private mutating func take(_ byte: UInt8, _ rows: inout [Row]) {
        guard var head else { return step(byte, &rows) }
        head.append(byte)
        if head.count < Self.mark.count, Self.mark.starts(with: head) {
            self.head = head
            return
        }
        self.head = nil
        if head == Self.mark { return }
        for byte in head { step(byte, &rows) }
    }

    private mutating func step(_ byte: UInt8, _ rows: inout [Row]) {
        defer { wasReturn = byte == UInt8(ascii: "\r") }
        let isLineEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
        if byte == UInt8(ascii: "\n"), wasReturn, state == .start, fields.isEmpty {
            // The second half of a line end.
            return
        }
        bytes += 1
        if bytes > Self.limit, state != .skipping {
            problem = "the row is longer than \(Self.limit) bytes"
            state = .skipping
        }
        switch state {
        case .skipping: if isLineEnd { endRow(&rows) }
        case .quoted:
            if byte == UInt8(ascii: "\"") { state = .quoteInQuoted } else { field.append(byte) }
        case .quoteInQuoted where byte == UInt8(ascii: "\""):
            field.append(byte)
            state = .quoted
        case .start where byte == UInt8(ascii: "\""): state = .quoted
        case _ where byte == delimiter:
            endField()
            state = .start
        case _ where isLineEnd: endRow(&rows)
        case .quoteInQuoted:
            problem = "text follows a closing quote"
            state = .skipping
        case .plain where byte == UInt8(ascii: "\""):
            problem = "a quote stands inside a field that is not quoted"
            state = .skipping
        case .start, .plain:
            field.append(byte)
            state = .plain
        }
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") && state != .quoted { countLine(byte) }
    }

    private mutating func countLine(_ byte: UInt8) {
        line += 1
        if state == .start, fields.isEmpty { firstLine = line }
    }

    private mutating func endField() {
        fields.append(field)
        field = []
    }

    private mutating func endRow(_ rows: inout [Row]) {
        let isBlank = fields.isEmpty && field.isEmpty && state == .start && problem == nil
        if !isBlank {
            endField()
            rows.append(Row(line: firstLine, fields: problem == nil ? fields : [], problem: problem))
        }
        (fields, field, problem, bytes, state) = ([], [], nil, 0, .start)
    }
}
