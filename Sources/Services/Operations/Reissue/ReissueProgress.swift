package import AdapterKit

/// The progress of a batch job, as its checkpoint states it.
package struct ReissueProgress: Sendable, Equatable {
    /// The job's id, which its events' ids begin with.
    package let job: String
    /// The job's input; another input needs another checkpoint.
    package let input: String
    /// Rows that were read, good and bad.
    package var rows = 0
    /// Events that were delivered.
    package var sent = 0
    /// Rows that could not be used.
    package var rejected = 0
    /// The length of the file of rejected rows, in bytes.
    package var rejectsLength = 0
    /// Rows whose events were about to be delivered when the checkpoint was written: those behind `rows` may have been
    /// delivered.
    package var sendingRows = 0
    /// The time when the first of the rows behind `rows` was about to be delivered; nil where it is unknown.
    package private(set) var sendingSince: UnixTime?
    /// The offsets that an open transaction hid when the job's users were read from the ledger.
    package var hidden = 0
    /// The number of rows; nil where it is unknown.
    package var total: Int?
    /// Whether every row was read.
    package var isFinished = false
    /// The campaign that the job belongs to; nil for a job by itself.
    package let campaign: String?
    /// The campaign's round: each reads the whole ledger again.
    package let round: Int
    /// Whether the ledger was read again after the last event.
    package var isSettled = false

    /// A job that begins.
    package init(job: String, input: String) {
        self.job = job
        self.input = input
        (campaign, round) = (nil, 1)
    }

    /// The job of a campaign at the beginning of the round `round`.
    package init(campaign: String, round: Int, input: String) {
        self.init(job: "\(campaign).\(round)", input: input, campaign: campaign, round: round)
    }

    private init(job: String, input: String, campaign: String?, round: Int) {
        self.job = job
        self.input = input
        self.campaign = campaign
        self.round = round
    }

    /// Returns the job of a campaign from before checkpoints named campaigns, as the job of `campaign`.
    package func adopted(by campaign: String) -> ReissueProgress {
        var progress = ReissueProgress(job: job, input: input, campaign: campaign, round: round)
        (progress.rows, progress.sent, progress.rejected) = (rows, sent, rejected)
        (progress.rejectsLength, progress.sendingRows, progress.isFinished) = (rejectsLength, sendingRows, isFinished)
        progress.sendingSince = sendingSince
        progress.total = total
        return progress
    }

    /// Notes that the rows up to `row` are about to be delivered at `time`. Rows that are in doubt already keep their
    /// time.
    package mutating func deliver(through row: Int, at time: UnixTime) {
        if sendingRows <= rows { sendingSince = time }
        sendingRows = max(sendingRows, row)
    }

    /// The rows whose events may have been delivered before a crash, or not.
    package var inDoubt: Range<Int> { rows..<max(rows, sendingRows) }

    /// Reads a checkpoint; nil where `text` is none.
    package init?(_ text: [UInt8]) {
        guard let root = try? JSONDocument(parsing: text).root, let job = root["job"]?.string,
            let input = root["input"]?.string
        else { return nil }
        func count(_ name: String) -> Int? { root[name]?.number.flatMap { Int(exactly: $0) } }
        guard let rows = count("rows"), let sent = count("sent"), let rejected = count("rejected"),
            let rejectsLength = count("rejects_length"), [rows, sent, rejected, rejectsLength].allSatisfy({ $0 >= 0 })
        else { return nil }
        let campaign = root["campaign"]?.string
        self.init(job: job, input: input, campaign: campaign, round: count("round") ?? 1)
        guard root["campaign"] == nil || campaign != nil else { return nil }
        (self.rows, self.sent, self.rejected, self.rejectsLength) = (rows, sent, rejected, rejectsLength)
        // Checkpoints from before this member was written know of no event under way.
        sendingRows = count("sending_rows") ?? rows
        sendingSince = root["sending_since_ms"]?.integer.map { UnixTime(milliseconds: $0) }
        hidden = max(0, count("hidden") ?? 0)
        total = count("total").map { max(0, $0) }
        isFinished = root["finished"]?.bool ?? false
        isSettled = root["settled"]?.bool ?? false
    }

    /// The checkpoint's text.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("job", job)
        if let campaign { json.member("campaign", campaign) }
        if campaign != nil { json.member("round", Int64(round)) }
        json.member("input", input)
        json.member("rows", Int64(rows))
        if let total { json.member("total", Int64(total)) }
        json.member("sent", Int64(sent))
        json.member("rejected", Int64(rejected))
        json.member("rejects_length", Int64(rejectsLength))
        json.member("sending_rows", Int64(sendingRows))
        if let sendingSince { json.member("sending_since_ms", sendingSince.milliseconds) }
        if hidden > 0 { json.member("hidden", Int64(hidden)) }
        json.name("finished")
        json.bool(isFinished)
        json.name("settled")
        json.bool(isSettled)
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Whether no event can have been delivered: the rows may still become other users.
    package var isUntouched: Bool { rows == 0 && sendingRows == 0 }

    /// Returns the id of the event of a row.
    package func eventID(row: Int) -> String { "\(job)-\(row)" }
}
