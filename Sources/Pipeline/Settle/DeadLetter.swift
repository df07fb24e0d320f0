public import AdapterKit

/// A record that could not be answered, on its way to the dead letters: key, value and headers as they came, and why.
///
/// Headers of an earlier death are replaced; everything else stays.
public struct DeadLetter: Sendable {
    private let record: InputRecord
    private let provenance: Provenance
    private let rejection: Rejection
    private let stage: Stage
    private let failedAt: UnixTime

    /// The end of `record` at `stage` because of `rejection`.
    public init(_ record: InputRecord, _ rejection: Rejection, at stage: Stage, on failedAt: UnixTime) {
        self.record = record
        provenance = Provenance(record)
        self.rejection = rejection
        self.stage = stage
        self.failedAt = failedAt
    }

    /// The record, whole.
    public var output: OutputRecord {
        OutputRecord(destination: .deadLetters, key: record.key, value: record.value, headers: kept + added)
    }

    /// The record by reference, for a topic that does not take it whole: where it stood and how large it was.
    public var reference: OutputRecord {
        let size = Header(HopHeaders.size, String(record.value?.count ?? 0))
        // A key of up to a kilobyte is worth keeping; what made the record too large is not.
        let key = record.key.flatMap { $0.count <= 1024 ? $0 : nil }
        return OutputRecord(destination: .deadLetters, key: key, value: nil, headers: added + [size])
    }

    /// Whether `record` is a dead letter by reference already.
    static func isReference(_ record: OutputRecord) -> Bool { record.contents.text(HopHeaders.size) != nil }

    /// At which stage the event of `letter` failed.
    static func stage(of letter: OutputRecord) -> Stage? {
        letter.contents.text(HopHeaders.stage).flatMap(Stage.init(rawValue:))
    }

    private var kept: [Header] { record.headers.filter { !HopHeaders.all.contains($0.name) } }

    private var added: [Header] {
        var headers = [
            Header(HopHeaders.code, rejection.code.rawValue),
            Header(HopHeaders.stage, stage.rawValue),
            Header(HopHeaders.detail, rejection.detail),
        ]
        headers += provenance.headers
        headers += [
            Header(HopHeaders.attempts, String(provenance.attempts + 1)),
            Header(HopHeaders.failedAt, failedAt.description),
            Header(HopHeaders.redrives, String(provenance.redrives)),
        ]
        if !provenance.history.isEmpty {
            let reason = rejection.code.rawValue
            headers.append(
                Header(HopHeaders.history, provenance.history(adding: reason, at: stage, on: failedAt)))
        }
        return headers
    }
}
