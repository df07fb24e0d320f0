/// The values that an SDK handed to the app when authentication failed, and the time of the failure.
///
/// Adapters read it through `field`, which knows the ways one value is spelt: under several names, as a number or as
/// text, absent, null or empty.
public struct Report: Sendable {
    /// The report's JSON.
    public let root: JSONValue
    /// The time at which the failure was observed, as well as it is known.
    public let observedAt: UnixTime
    /// The user that the edge has authenticated; nil where the edge names none. It is not part of the report: no device
    /// writes it.
    public let vouched: VouchedUser?

    /// The report `root`, observed at `observedAt`, from the user `vouched`.
    public init(_ root: JSONValue, observedAt: UnixTime, vouched: VouchedUser? = nil) {
        self.root = root
        self.observedAt = observedAt
        self.vouched = vouched
    }

    /// Returns the same report with another JSON: one that was wrapped in it.
    public func with(root: JSONValue) -> Report { Report(root, observedAt: observedAt, vouched: vouched) }

    /// Returns the first of the members of these names that holds a value; else the first one that is present, as null;
    /// else absent.
    public func field(_ first: String, _ second: String, _ others: String...) -> ReportField {
        var found = field(first).or { field(second) }
        for name in others { found = found.or { field(name) } }
        return found
    }

    /// Returns the member `name`. This is a function of its own, because an array of names for each field of each
    /// report would cost more than the reading.
    public func field(_ name: String) -> ReportField { root[name].map { ReportField($0) } ?? .absent }

    /// Returns whether there are members besides `known`, a sign that the report is another vendor's.
    public func hasMembers(besides known: Set<String>) -> Bool {
        root.members.contains { !known.contains($0.name) }
    }

    /// Parses the report inside a JSON string: some SDKs' bridges pass on their object as text.
    ///
    /// - Returns: nil where the text is not JSON.
    public static func parse(_ text: String) -> JSONValue? {
        try? JSONDocument(parsing: Array(text.utf8), limits: .init(bytes: 64 << 10, depth: 8)).root
    }
}

/// A value of a report.
public enum ReportField: Sendable, Equatable {
    /// The member is missing.
    case absent
    /// Null or an empty string, which SDKs and bridges use for "there is none".
    case null
    /// Text that is not empty.
    case text(String)
    /// An integer, however it is written: `22`, `22.0` or `2.2e1`.
    case integer(Int64)
    /// Anything else: a fraction, a boolean, an object, an array.
    case other

    init(_ value: JSONValue) {
        switch value.kind {
        case .null: self = .null
        case .string: self = value.string.flatMap { $0.isEmpty ? nil : .text($0) } ?? .null
        case .number: self = value.reportedInteger.map(ReportField.integer) ?? .other
        case .object, .array, .true, .false: self = .other
        }
    }

    /// Whether there is no value: the member is absent or null.
    public var isNothing: Bool {
        switch self {
        case .absent, .null: true
        default: false
        }
    }

    /// Returns this value; where there is none, the value of `other`.
    func or(_ other: () -> ReportField) -> ReportField {
        guard isNothing else { return self }
        let other = other()
        if case .absent = other { return self }
        return other
    }

    /// The text, where it is one.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The integer, written as a number or as text.
    public var integerValue: Int64? {
        switch self {
        case .integer(let integer): integer
        case .text(let text): Int64(text) ?? DecimalInteger.value(of: text.utf8)
        default: nil
        }
    }
}
