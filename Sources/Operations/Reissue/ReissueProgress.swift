import AdapterKit

/// How far a batch job is: what stands in its checkpoint.
package struct ReissueProgress: Sendable, Equatable {
    /// The job's id, which its events' ids begin with.
    package let job: String
    /// What the job is about; another input needs another checkpoint.
    package let input: String
    /// Rows that were read, good and bad.
    package var rows = 0
    /// Events that were delivered.
    package var sent = 0
    /// Rows that could not be used.
    package var rejected = 0
    /// How long the file of rejected rows is, in bytes.
    package var rejectsLength = 0
    /// Whether every row was read.
    package var isFinished = false

    /// A job that begins.
    package init(job: String, input: String) {
        self.job = job
        self.input = input
    }

    /// Reads a checkpoint; nil where `text` is none.
    package init?(_ text: [UInt8]) {
        guard let root = try? JSONDocument(parsing: text).root, let job = root["job"]?.string,
            let input = root["input"]?.string
        else { return nil }
        func count(_ name: String) -> Int? { root[name]?.number.flatMap { Int(exactly: $0) } }
        guard let rows = count("rows"), let sent = count("sent"), let rejected = count("rejected"),
            let rejectsLength = count("rejects_length"), [rows, sent, rejected, rejectsLength].allSatisfy({ $0 >= 0 })
        else { return nil }
        self.init(job: job, input: input)
        (self.rows, self.sent, self.rejected, self.rejectsLength) = (rows, sent, rejected, rejectsLength)
        isFinished = root["finished"]?.bool ?? false
    }

    /// The checkpoint's text.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("job", job)
        json.member("input", input)
        json.member("rows", Int64(rows))
        json.member("sent", Int64(sent))
        json.member("rejected", Int64(rejected))
        json.member("rejects_length", Int64(rejectsLength))
        json.name("finished")
        json.bool(isFinished)
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// The id of the event of a row.
    package func eventID(row: Int) -> String { "\(job)-\(row)" }
}
