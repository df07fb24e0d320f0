import JOSE

/// A campaign's text in `rotation.json`.
extension Rotation {
    /// Reads a campaign that `json` wrote; nil for anything else.
    package init?(_ text: [UInt8]) {
        guard let root = try? JSONDocument(parsing: text).root, let from = root["from"]?.string,
            let to = root["to"]?.string, let phase = root["phase"]?.string.flatMap(Phase.init(rawValue:)),
            let begun = root["begun"]?.string.flatMap({ RFC3339.parse($0) }), let id = root["id"]?.string,
            Self.isID(id), let kind = root["kind"]?.string.flatMap(Kind.init)
        else { return nil }
        self.init(
            id: id, kind: kind, from: from, to: to, at: begun, by: root["by"]?.string, why: root["why"]?.string,
            isOfOwnKey: root["own_key"]?.bool ?? false)
        self.phase = phase
        pause = root["paused"]?.string
        pausedSince = pause == nil ? nil : root["paused_since"]?.string.flatMap { RFC3339.parse($0) }
        if let member = root["marks"] {
            guard let marks = TopicMarks(member) else { return nil }
            start = marks
        }
        if let member = root["canary"] {
            guard let canary = RotationCanary(member) else { return nil }
            self.canary = canary
        }
        guard let judged = RotationStratum.list(root["judged"]) else { return nil }
        self.judged = judged
        canaryCount = root["canaries"]?.number.flatMap { Int(exactly: $0) } ?? 0
        if let member = root["failed_apps"] {
            guard let failed = Self.texts(member) else { return nil }
            failedApps = failed
        }
        if let member = root["passed_apps"] {
            guard let passed = Self.texts(member) else { return nil }
            passedApps = passed
        }
    }

    private static func texts(_ value: JSONValue) -> [String]? {
        guard value.isArray else { return nil }
        let texts = value.elements.compactMap(\.string)
        return texts.count == value.elements.count ? texts : nil
    }

    private static func write(_ texts: [String], _ name: String, to json: inout JSONWriter) {
        json.name(name)
        json.beginArray()
        for text in texts { json.string(text) }
        json.endArray()
    }

    /// The campaign's state as it is kept in `rotation.json`.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("id", id)
        json.member("kind", kind.rawValue)
        json.member("from", from)
        json.member("to", to)
        json.member("phase", phase.rawValue)
        if let pause { json.member("paused", pause) }
        if let pausedSince { json.member("paused_since", pausedSince.description) }
        json.member("begun", begun.description)
        if let by { json.member("by", by) }
        if let why { json.member("why", why) }
        json.name("own_key")
        json.bool(isOfOwnKey)
        if let start { start.write("marks", to: &json) }
        if let canary { canary.write("canary", to: &json) }
        RotationStratum.write(judged, "judged", to: &json)
        if !failedApps.isEmpty { Self.write(failedApps, "failed_apps", to: &json) }
        Self.write(passedApps, "passed_apps", to: &json)
        json.member("canaries", Int64(canaryCount))
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Returns whether `text` can be an id: the name of a file, and part of an event's id.
    static func isID(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension TopicMarks {
    init?(_ value: JSONValue) {
        guard value.isObject else { return nil }
        var ends: [String: [Int64]] = [:]
        for (topic, list) in value.members {
            guard list.isArray else { return nil }
            let offsets = list.elements.compactMap(\.integer)
            guard offsets.count == list.elements.count, offsets.allSatisfy({ $0 >= 0 }) else { return nil }
            ends[topic] = offsets
        }
        self.init(ends)
    }

    func write(_ name: String, to json: inout JSONWriter) {
        json.name(name)
        json.beginObject()
        for (topic, offsets) in ends.sorted(by: { $0.key < $1.key }) {
            json.name(topic)
            json.beginArray()
            for offset in offsets { json.integer(offset) }
            json.endArray()
        }
        json.endObject()
    }
}

extension RotationCanary {
    init?(_ value: JSONValue) {
        guard let first = value["first_row"]?.integer, let count = value["count"]?.integer, first >= 0, count > 0,
            let firstRow = Int(exactly: first), let rows = Int(exactly: count),
            !firstRow.addingReportingOverflow(rows).overflow, let marks = value["marks"].flatMap(TopicMarks.init),
            let strata = RotationStratum.list(value["strata"])
        else { return nil }
        self.init(firstRow: firstRow, count: rows, marks: marks, strata: strata)
        hasFailed = value["failed"]?.bool ?? false
        if let member = value["answered"] {
            guard let marks = TopicMarks(member) else { return nil }
            answered = marks
        }
    }

    func write(_ name: String, to json: inout JSONWriter) {
        json.name(name)
        json.beginObject()
        json.member("first_row", Int64(firstRow))
        json.member("count", Int64(count))
        marks.write("marks", to: &json)
        RotationStratum.write(strata, "strata", to: &json)
        if let answered { answered.write("answered", to: &json) }
        if hasFailed {
            json.name("failed")
            json.bool(true)
        }
        json.endObject()
    }
}
