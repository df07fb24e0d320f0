import AdapterKit

/// Users out of CSV with a header row.
package struct CSVUserRows: Sendable {
    package struct BadHeader: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private var reader: CSVReader
    private let columns: [String]
    /// Whether users are named by several ids, a column each.
    private let areNamed: Bool
    private var places: [Int]?
    private var width = 0

    /// - Parameters:
    ///   - columns: the columns that name the user.
    ///   - areNamed: whether the user is an object of the columns' names and values; otherwise there is one column.
    package init(columns: [String], areNamed: Bool, delimiter: UInt8 = UInt8(ascii: ",")) {
        reader = CSVReader(delimiter: delimiter)
        self.columns = columns
        self.areNamed = areNamed
    }

    /// - Throws: `BadHeader` where a column is missing.
    package mutating func take(_ chunk: some Sequence<UInt8>) throws(BadHeader) -> [UserRow] {
        try users(reader.take(chunk))
    }

    /// - Throws: `BadHeader` where there was no header.
    package mutating func finish() throws(BadHeader) -> [UserRow] {
        let rows = try users(reader.finish())
        guard places != nil else { throw BadHeader(description: "the input is empty; its first row names the columns") }
        return rows
    }

    private mutating func users(_ rows: [CSVReader.Row]) throws(BadHeader) -> [UserRow] {
        var users: [UserRow] = []
        for row in rows {
            guard let places else {
                try readHeader(row)
                continue
            }
            users.append(UserRow(line: row.line, user: user(row, places)))
        }
        return users
    }

    private mutating func readHeader(_ row: CSVReader.Row) throws(BadHeader) {
        if let problem = row.problem { throw BadHeader(description: "the header row cannot be read: \(problem)") }
        let names = row.fields.map { String(decoding: $0, as: UTF8.self).trimmingSpaces() }
        var places: [Int] = []
        for column in columns {
            let found = names.indices.filter { names[$0].utf8.elementsEqual(column.utf8) }
            guard let place = found.first, found.count == 1 else {
                let known = names.prefix(20).joined(separator: ", ")
                throw BadHeader(
                    description: found.isEmpty
                        ? "there is no column \"\(column)\"; the header has: \(known). Name the user's with --user-column"
                        : "the header has the column \"\(column)\" twice")
            }
            places.append(place)
        }
        (self.places, width) = (places, names.count)
    }

    private func user(_ row: CSVReader.Row, _ places: [Int]) -> Result<[UInt8], UserRow.BadRow> {
        if let problem = row.problem { return .failure(.init(problem)) }
        guard row.fields.count == width else {
            return .failure(.init("the row has \(row.fields.count) fields, the header \(width)"))
        }
        var json = JSONWriter()
        if areNamed { json.beginObject() }
        var count = 0
        for (column, place) in zip(columns, places) where !row.fields[place].isEmpty {
            guard let text = String(validating: row.fields[place], as: UTF8.self) else {
                return .failure(.init("the user is not UTF-8"))
            }
            if areNamed { json.member(column, text) } else { json.string(text) }
            count += 1
        }
        if areNamed { json.endObject() }
        return count > 0 ? .success(json.bytes) : .failure(.init("the user is empty"))
    }
}

extension String {
    func trimmingSpaces() -> String {
        let scalars = unicodeScalars.drop { $0 == " " || $0 == "\t" }
        return String(scalars.reversed().drop { $0 == " " || $0 == "\t" }.reversed().map(Character.init))
    }
}

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
