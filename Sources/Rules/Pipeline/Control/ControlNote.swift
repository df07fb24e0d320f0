import AdapterKit

/// The common members of a pause on the control topic: its start, its end, its author and its reason.
struct ControlNote {
    var since: UnixTime
    var until: UnixTime?
    var by: String
    var why: String

    init(since: UnixTime, until: UnixTime?, by: String, why: String) {
        self.since = since
        self.until = until
        self.by = by
        self.why = why
    }

    /// Reads the members of a record at the time `now`.
    ///
    /// - Throws: `RecordFault.time` for a record without a start, with a start more than a day ahead, or with an end
    ///   before its start.
    init(_ record: JSONValue, at now: UnixTime) throws(RecordFault) {
        guard let since = record["since"]?.string.flatMap(RFC3339.parse),
            ReadBackBound.admits(pastTime: since, at: now)
        else { throw .time }
        self.since = since
        if let until = record["until"] {
            guard let moment = until.string.flatMap(RFC3339.parse), moment >= since else { throw .time }
            self.until = moment
        }
        by = record["by"]?.string ?? ""
        why = record["why"]?.string ?? ""
    }

    func write(to json: inout JSONWriter) {
        json.member("since", since.description)
        if let until { json.member("until", until.description) }
        json.member("by", by)
        json.member("why", why)
    }
}
