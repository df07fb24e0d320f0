import AdapterKit
import Pipeline
import Testing

/// Something an attacker sends, and what comes of it.
struct Attack: CustomTestStringConvertible, Sendable {
    /// The required result: a token for `me` alone under this subject key, a code, or a skip.
    enum End: Sendable, Equatable {
        case minted(String)
        case refused(ErrorCode)
        case skipped
    }

    let testDescription: String
    let records: @Sendable (TrustBench) throws -> [InputRecord]
    let end: End

    init(_ name: String, _ end: End, _ records: @escaping @Sendable (TrustBench) throws -> [InputRecord]) {
        testDescription = name
        self.end = end
        self.records = records
    }

    /// Expects that `settlement` is the end the attack must come to, and that nobody else gets a token.
    func expectEnd(_ settlement: Settlement) throws {
        switch settlement.outcome {
        case .minted:
            let output = try #require(settlement.output)
            let key = String(decoding: output.key ?? [], as: UTF8.self)
            #expect(end == .minted(key))
            let claims = try CompactJWS(parsing: output.token).payload
            let text = String(decoding: claims, as: UTF8.self)
            #expect(key.contains("victim") || !text.contains("victim") || text.contains("victims"))
        case .deadLettered(let code): #expect(end == .refused(code))
        case .skipped: #expect(end == .skipped)
        default: Issue.record("it ends as \(settlement.outcome)")
        }
        let isToken = settlement.output?.destination == .tokens
        #expect(isToken == (settlement.outcome == .minted))
    }

    /// The same in each of the four forms.
    static func inEveryForm(
        _ name: String, _ app: String, _ report: String, vouched: String? = nil, _ end: End
    ) -> [Attack] {
        EventShape.allCases.map { shape in
            Attack("\(name), \(shape.rawValue)", end) { _ in [shape.record(app, report, vouched: vouched)] }
        }
    }

    /// One record without headers.
    static func one(_ name: String, _ value: String, _ end: End) -> Attack { one(name, value, [], end) }

    /// One record.
    static func one(_ name: String, _ value: String, _ headers: [RecordHeader], _ end: End) -> Attack {
        Attack(name, end) { _ in
            [
                InputRecord(
                    origin: RecordPosition(topic: "remint.invalidations", partition: 0, offset: 7),
                    timestamp: TrustBench.now, key: nil, value: Array(value.utf8), headers: headers)
            ]
        }
    }
}
