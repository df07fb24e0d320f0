import AdapterKit

extension ReportPath {
    /// Returns the value at the path's end; nil where there is none.
    func value(in report: Report) -> JSONValue? {
        guard names.count > 1 else { return report.root[names[0]] }
        var value = report.root
        for name in names {
            guard let inside = value[name] else { return nil }
            value = inside
        }
        return value
    }

    /// Returns the field at the path's end.
    func field(in report: Report) -> ReportField {
        guard names.count > 1 else { return report.field(names[0]) }
        var outer = report.root
        for name in names.dropLast() {
            guard let inside = outer[name] else { return .absent }
            outer = inside
        }
        return report.with(root: outer).field(names[names.count - 1])
    }
}

extension [ReportPath] {
    /// Returns the first field that holds a value; else the first one that is present, as null; else absent.
    func field(in report: Report) -> ReportField {
        var found = ReportField.absent
        for path in self {
            let field = path.field(in: report)
            if !field.isNothing { return field }
            if found == .absent { found = field }
        }
        return found
    }
}

extension ReportCondition {
    /// Returns whether the condition is met in `report`. A value that is no text counts as absent, unless the condition
    /// names its digits or its word.
    func holds(in report: Report) -> Bool {
        let value = path.value(in: report)
        guard !values.isEmpty else { return value != nil }
        var word: String?
        if let text = value?.string, !text.isEmpty {
            word = text
        } else if let written = value?.reportedInteger.map({ String($0) }) ?? value?.bool.map({ String($0) }),
            values.contains(written)
        {
            word = written
        }
        return values.contains { wanted in
            if let wanted { word.map { wanted.hasSameBytes(as: $0) } ?? false } else { word == nil }
        }
    }
}

extension ReportTime {
    /// Returns the time in `report`; nil where there is none of that form.
    func time(in report: Report) -> UnixTime? {
        let field = paths.field(in: report)
        switch unit {
        case .seconds: return field.integerValue.map { UnixTime(seconds: $0) }
        case .milliseconds: return field.integerValue.map { UnixTime(milliseconds: $0) }
        case .rfc3339: return field.text.flatMap(RFC3339.parse)
        }
    }
}
