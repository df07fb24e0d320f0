public import AdapterKit

/// The dead letter of a record that could not be answered: its key, value and headers as they came, and the reason.
///
/// Headers of an earlier dead letter are replaced. All others stay.
public struct DeadLetter: Sendable {
    private let record: InputRecord
    private let provenance: Provenance
    private let rejection: Rejection
    private let stage: Stage
    private let failedAt: UnixTime
    /// The token that the vendor refused; nil for every other end.
    private let refused: RefusedToken?

    /// Creates the dead letter of `record`, which failed at `stage` because of `rejection`.
    public init(
        _ record: InputRecord, _ rejection: Rejection, at stage: Stage, on failedAt: UnixTime,
        refused: RefusedToken? = nil
    ) {
        self.init(record, Provenance(record), rejection, at: stage, on: failedAt, refused: refused)
    }

    init(
        _ record: InputRecord, _ provenance: Provenance, _ rejection: Rejection, at stage: Stage,
        on failedAt: UnixTime, refused: RefusedToken?
    ) {
        self.record = record
        self.refused = refused
        self.provenance = provenance
        self.rejection = rejection
        self.stage = stage
        self.failedAt = failedAt
    }

    /// The dead letter with the whole record; by reference for a batch whose records nobody has.
    public var output: OutputRecord {
        if record.batch != nil { return reference }
        return OutputRecord(
            destination: .deadLetters, key: record.key, value: record.value, headers: record.keptHeaders + added)
    }

    /// The dead letter by reference, for a topic that refuses the whole record: the record's position and its size.
    public var reference: OutputRecord {
        let size = RecordHeader(HopHeaders.size, String(record.value?.count ?? 0))
        // A key of up to 1 kB is kept. The value, which made the record too large, is not.
        let key = record.key.flatMap { $0.count <= 1024 ? $0 : nil }
        return OutputRecord(destination: .deadLetters, key: key, value: nil, headers: added + [size])
    }

    /// Whether `record` is already a dead letter by reference.
    static func isReference(_ record: OutputRecord) -> Bool { record.body.text(HopHeaders.size) != nil }

    private var added: [RecordHeader] {
        var headers = [
            RecordHeader(HopHeaders.code, rejection.code.rawValue),
            RecordHeader(HopHeaders.stage, stage.rawValue),
            RecordHeader(HopHeaders.detail, rejection.detail),
        ]
        headers += provenance.headers
        headers += [
            RecordHeader(HopHeaders.attempts, String(provenance.attempts + 1)),
            RecordHeader(HopHeaders.failedAt, failedAt.description),
            RecordHeader(HopHeaders.redrives, String(Provenance.redrives(of: record.body))),
        ]
        headers += refused?.headers ?? []
        if !provenance.history.isEmpty {
            let reason = rejection.code.rawValue
            headers.append(
                RecordHeader(HopHeaders.history, provenance.history(adding: reason, at: stage, on: failedAt)))
        }
        return headers
    }
}
