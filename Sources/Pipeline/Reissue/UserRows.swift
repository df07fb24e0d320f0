import AdapterKit

/// A user of a batch job's input, or why a row names none.
public struct UserRow: Sendable, Equatable {
    /// The line the row begins on, from 1.
    public let line: Int
    /// The user as `reissue.user` takes it: a JSON string, or an object of ids by name.
    public let user: Result<[UInt8], BadRow>

    /// The user on `line`.
    public init(line: Int, user: Result<[UInt8], BadRow>) {
        self.line = line
        self.user = user
    }

    /// Why a row cannot be used. Never what stands in it.
    public struct BadRow: Error, Sendable, Equatable {
        /// Why.
        public let reason: String

        /// A row that cannot be used because of `reason`.
        public init(_ reason: String) { self.reason = reason }
    }
}

/// Users out of CSV with a header row.
public struct CSVUserRows: Sendable {
    /// Why the header does not do.
    public struct BadHeader: Error, Sendable, CustomStringConvertible {
        /// Why.
        public let description: String
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
    public init(columns: [String], areNamed: Bool, delimiter: UInt8 = UInt8(ascii: ",")) {
        reader = CSVReader(delimiter: delimiter)
        self.columns = columns
        self.areNamed = areNamed
    }

    /// - Throws: `BadHeader` where a column is missing.
    public mutating func take(_ chunk: some Sequence<UInt8>) throws(BadHeader) -> [UserRow] {
        try users(reader.take(chunk))
    }

    /// - Throws: `BadHeader` where there was no header.
    public mutating func finish() throws(BadHeader) -> [UserRow] {
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

/// Users out of JSON Lines: a string, an object of ids, or an object with the user under a name.
public struct JSONLinesUserRows: Sendable {
    /// The longest line, in bytes.
    public static let limit = CSVReader.limit
    private let column: String
    private var pending: [UInt8] = []
    private var isTooLong = false
    private var line = 1

    /// - Parameter column: the member of an object that is the user, where it has it.
    public init(column: String) { self.column = column }

    /// Takes the next bytes.
    public mutating func take(_ chunk: some Sequence<UInt8>) -> [UserRow] {
        var rows: [UserRow] = []
        for byte in chunk {
            guard byte != UInt8(ascii: "\n") else {
                endLine(&rows)
                line += 1
                continue
            }
            if pending.count < Self.limit { pending.append(byte) } else { isTooLong = true }
        }
        return rows
    }

    /// The last line, where no line end follows it.
    public mutating func finish() -> [UserRow] {
        var rows: [UserRow] = []
        endLine(&rows)
        return rows
    }

    private mutating func endLine(_ rows: inout [UserRow]) {
        defer { (pending, isTooLong) = ([], false) }
        if line == 1, pending.starts(with: [0xEF, 0xBB, 0xBF]) { pending.removeFirst(3) }
        if isTooLong {
            rows.append(UserRow(line: line, user: .failure(.init("the line is longer than \(Self.limit) bytes"))))
            return
        }
        guard pending.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { return }
        rows.append(UserRow(line: line, user: user()))
    }

    private func user() -> Result<[UInt8], UserRow.BadRow> {
        guard let root = try? JSONDocument(parsing: pending).root else {
            return .failure(.init("the line is not JSON"))
        }
        let value = root.isObject ? root[column] ?? root : root
        var json = JSONWriter()
        if let text = value.string {
            guard !text.isEmpty else { return .failure(.init("the user is empty")) }
            json.string(text)
            return .success(json.bytes)
        }
        guard value.isObject, !value.members.isEmpty else {
            return .failure(.init("the line is neither a user's id as a string nor an object of ids"))
        }
        json.beginObject()
        for (name, id) in value.members {
            guard let text = id.string else {
                return .failure(.init("an id is not a string; numbers lose their leading zeros"))
            }
            json.member(name, text)
        }
        json.endObject()
        return .success(json.bytes)
    }
}

extension String {
    func trimmingSpaces() -> String {
        let scalars = unicodeScalars.drop { $0 == " " || $0 == "\t" }
        return String(scalars.reversed().drop { $0 == " " || $0 == "\t" }.reversed().map(Character.init))
    }
}
