public import AdapterKit

/// A record that could not be answered, on its way to the dead letters: key, value and headers as they came, and why.
public struct DeadLetter: Sendable {
    /// The headers a dead letter gets. Those of an earlier death are replaced; everything else stays.
    private enum Name {
        static let code = "remint-error-code"
        static let stage = "remint-error-stage"
        static let detail = "remint-error-detail"
        static let topic = "remint-origin-topic"
        static let partition = "remint-origin-partition"
        static let offset = "remint-origin-offset"
        static let timestamp = "remint-origin-timestamp"
        static let attempts = "remint-attempts"
        static let failedAt = "remint-failed-at"
        static let redrives = "remint-redrives"
        static let size = "remint-origin-value-bytes"
        static let all: Set<String> = [
            code, stage, detail, topic, partition, offset, timestamp, attempts, failedAt, redrives, size,
        ]
    }

    private let record: InputRecord
    private let rejection: Rejection
    private let stage: Stage
    private let failedAt: UnixTime

    /// The end of `record` at `stage` because of `rejection`.
    public init(_ record: InputRecord, _ rejection: Rejection, at stage: Stage, on failedAt: UnixTime) {
        self.record = record
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
        let size = Header(Name.size, String(record.value?.count ?? 0))
        // A key of up to a kilobyte is worth keeping; what made the record too large is not.
        let key = record.key.flatMap { $0.count <= 1024 ? $0 : nil }
        return OutputRecord(destination: .deadLetters, key: key, value: nil, headers: added + [size])
    }

    /// Whether `record` is a dead letter by reference already.
    static func isReference(_ record: OutputRecord) -> Bool { record.headers.text(Name.size) != nil }

    /// At which stage the event of `letter` failed.
    static func stage(of letter: OutputRecord) -> Stage? {
        letter.headers.text(Name.stage).flatMap(Stage.init(rawValue:))
    }

    /// A count an earlier hop wrote. Anyone can write headers, so that only a number is taken over.
    private func count(_ name: String, otherwise none: Int) -> String {
        String(record.headers.text(name).flatMap { Int($0) }.map { max($0, none) } ?? none)
    }

    private var kept: [Header] { record.headers.filter { !Name.all.contains($0.name) } }

    private var added: [Header] {
        [
            Header(Name.code, rejection.code.rawValue),
            Header(Name.stage, stage.rawValue),
            Header(Name.detail, rejection.detail),
            Header(Name.topic, record.origin.topic),
            Header(Name.partition, String(record.origin.partition)),
            Header(Name.offset, String(record.origin.offset)),
            Header(Name.timestamp, record.timestamp.map { String($0.milliseconds) } ?? ""),
            Header(Name.attempts, count(Name.attempts, otherwise: 1)),
            Header(Name.failedAt, failedAt.description),
            Header(Name.redrives, count(Name.redrives, otherwise: 0)),
        ]
    }
}
