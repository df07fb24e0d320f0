import AdapterKit

/// Users out of JSON Lines: a string, an object of ids, or an object with the user under a name.
package struct JSONLinesUserRows: Sendable {
    /// The longest line, in bytes.
    package static let limit = CSVReader.limit
    private let column: String
    private var pending: [UInt8] = []
    private var isTooLong = false
    private var line = 1

    /// - Parameter column: the member of an object that names the user, where the object has it.
    package init(column: String) { self.column = column }

    /// Parses the next bytes.
    package mutating func take(_ chunk: some Sequence<UInt8>) -> [UserRow] {
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

    /// Returns the last line, where no line end follows it.
    package mutating func finish() -> [UserRow] {
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
