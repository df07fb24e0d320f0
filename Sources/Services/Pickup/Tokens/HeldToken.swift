import AdapterKit
import Pipeline
import Synchronization
import Wiring

/// A token of the token topic: the parts of its record that the gateway needs.
struct HeldToken: Sendable {
    /// The token in compact form: a JWS or, where it is sealed, a JWE.
    let text: [UInt8]
    let isSealed: Bool
    /// The version, which only grows for a subject.
    let version: Int64
    /// The end of the token, in seconds since 1970.
    let expiresAt: Int64
    /// The failure that the token ends; nil where none was reported.
    let recovery: Recovery?
    /// The challenge that the token answers, where its caller asked for one.
    var challenge: String?

    /// Reads `record` of the token topic at the time `now`, with the checks of every reader of that topic.
    ///
    /// - Throws: `RecordFault` for a record that is no token of its key's subject.
    init(_ record: RecordBody, at now: UnixTime) throws(RecordFault) {
        let token = try TokenRecord(record, at: now)
        // For an old token, the length of its failure is of no use any more.
        let isRecent = now.microseconds(since: UnixTime(microseconds: token.version)) <= Recovery.window
        self.init(
            text: Array(token.token), isSealed: token.isSealed, version: token.version,
            expiresAt: token.expiresAt,
            reportedAt: isRecent ? token.reportedAt : nil)
    }

    init(
        text: [UInt8], isSealed: Bool = false, version: Int64, expiresAt: Int64,
        reportedAt: UnixTime? = nil
    ) {
        self.init(
            text: text, isSealed: isSealed, version: version, expiresAt: expiresAt,
            recovery: reportedAt.map { Recovery(reportedAt: $0, version: version) })
    }

    init(
        text: [UInt8], isSealed: Bool, version: Int64, expiresAt: Int64, recovery: Recovery?
    ) {
        self.text = text
        self.isSealed = isSealed
        self.version = version
        self.expiresAt = expiresAt
        self.recovery = recovery
    }

    func isLive(at now: UnixTime) -> Bool { expiresAt > now.seconds }

    /// Returns whether `report`, an SDK's own text, holds this very token.
    func isNamed(in report: [UInt8]) -> Bool {
        let signature = text.suffix(24)
        guard let first = signature.first, report.count >= signature.count else { return false }
        return report.indices.contains { report[$0] == first && report[$0...].starts(with: signature) }
    }
}

/// A reported failure that a token ends, and whether a device was handed the token yet. All copies of a token share
/// one.
final class Recovery: Sendable {
    /// The time after its publication for which a token's first hand-over shows the length of the failure, in
    /// microseconds. A device that comes later was away, or had the token already from another instance.
    static let window: Int64 = 300_000_000

    private let reportedAt: UnixTime
    private let publishedAt: UnixTime
    private let isOver = Atomic(false)

    /// - Parameters:
    ///   - reportedAt: the time of the first report that the token answers.
    ///   - version: the token's version, which is its time in microseconds since 1970.
    init(reportedAt: UnixTime, version: Int64) {
        self.reportedAt = reportedAt
        publishedAt = UnixTime(microseconds: version)
    }

    /// Notes that a device is handed the token.
    ///
    /// - Returns: the length of the failure, in seconds; nil from the second time on, and where the token is too old to
    ///   show it.
    func end(at now: UnixTime) -> Double? {
        guard now.microseconds(since: publishedAt) <= Self.window,
            isOver.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return nil }
        return RecoveryTime.seconds(from: reportedAt, to: now)
    }
}
