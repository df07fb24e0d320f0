public import AdapterKit

/// A recorded report and the reading that an adapter must return for it, from a file under an adapter's
/// `Fixtures/reports`.
///
/// The members of the file: `sdk` (the reporting SDK), `reported` (its failure, for a table), `app` (one of the apps in
/// `Fixtures/apps.json`), `report` (the JSON) or `report_text` (bytes that need not be JSON), `origin` (the place where
/// the shape was seen) and `expect`. A string in the report may hold `{{now+240s}}` or `{{now-10s}}`, which stands for
/// that moment.
public struct ReportFixture: Sendable {
    /// The reading that the adapter must return.
    public enum Expectation: Sendable, Equatable {
        /// A reading with this remedy (`mint`, `mint_once`, `not_fixable`, `not_for_us`), reason and subject key.
        case failure(remedy: String, reason: String, subject: String?, hasFailedToken: Bool)
        /// A rejection with this code.
        case rejected(ErrorCode)
    }

    /// The file's name without its ending.
    public let name: String
    /// The SDK that reports.
    public let sdk: String
    /// The failure that the SDK reports, in a few words.
    public let reported: String
    /// The name of the adapter's example app that the report is for.
    public let app: String
    /// The place where the shape was seen, such as a repository and a file; empty where the fixture names none.
    public let origin: String
    /// The reading that the adapter must return.
    public let expectation: Expectation
    private let template: String

    /// Parses the fixture in `bytes`.
    ///
    /// - Throws: `Rejection` with `.malformedReport` that names the missing member.
    public init(name: String, parsing bytes: [UInt8]) throws(Rejection) {
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument(parsing: bytes).root } catch {
            throw Rejection(.malformedReport, "\(name): \(error)")
        }
        func text(_ member: String) throws(Rejection) -> String {
            guard let text = root[member]?.string else {
                throw Rejection(.malformedReport, "\(name): no \"\(member)\"")
            }
            return text
        }
        self.name = name
        sdk = try text("sdk")
        reported = try text("reported")
        app = try text("app")
        origin = root["origin"]?.string ?? ""
        template =
            if let report = root["report"] { String(decoding: report.json, as: UTF8.self) } else {
                try text("report_text")
            }
        guard let expect = root["expect"], let expectation = Expectation(expect) else {
            throw Rejection(.malformedReport, "\(name): \"expect\" needs \"remedy\" and \"reason\", or \"rejected\"")
        }
        self.expectation = expectation
    }

    /// Returns the report's bytes as they would arrive at `now`.
    public func report(at now: UnixTime) -> [UInt8] {
        var output = ""
        var rest = template[...]
        while let start = Self.range(of: "{{now", in: rest) {
            let tail = rest[start.upperBound...]
            guard let end = Self.range(of: "s}}", in: tail), let shift = Int64(tail[..<end.lowerBound]) else { break }
            output += rest[..<start.lowerBound] + now.advanced(bySeconds: shift).description
            rest = tail[end.upperBound...]
        }
        return Array((output + rest).utf8)
    }

    private static func range(of wanted: String, in text: Substring) -> Range<Substring.Index>? {
        var index = text.startIndex
        while index < text.endIndex {
            if text[index...].hasPrefix(wanted) { return index..<text.index(index, offsetBy: wanted.count) }
            index = text.index(after: index)
        }
        return nil
    }
}

extension ReportFixture.Expectation {
    init?(_ expect: JSONValue) {
        if let code = expect["rejected"]?.string.flatMap(ErrorCode.init(rawValue:)) {
            self = .rejected(code)
        } else if let remedy = expect["remedy"]?.string, let reason = expect["reason"]?.string {
            self = .failure(
                remedy: remedy, reason: reason, subject: expect["subject"]?.string,
                hasFailedToken: expect["failed_token"]?.bool ?? false)
        } else {
            return nil
        }
    }

    /// The expectation that `reading` meets, in the fixtures' words.
    public init(_ reading: Reading) {
        switch reading {
        case .rejected(let rejection): self = .rejected(rejection.code)
        case .failure(let failure):
            self = .failure(
                remedy: failure.remedy.name, reason: failure.reason,
                subject: failure.subject.map { String(decoding: $0.key(app: "app"), as: UTF8.self) },
                hasFailedToken: failure.failedToken != nil)
        }
    }
}
