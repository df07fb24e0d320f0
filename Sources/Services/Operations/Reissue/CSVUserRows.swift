import AdapterKit

/// Users out of CSV with a header row.
package struct CSVUserRows: Sendable {
    /// A header row that cannot be used.
    package struct BadHeader: Error, Sendable, CustomStringConvertible {
        /// The reason.
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
