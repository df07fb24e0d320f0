import AdapterKit
import Formats
import Operations

extension WantedTopic {
    /// The topic's partitions, copies and settings at its creation, in a line.
    var summary: String {
        let copies = replication.map { $0.of("copy", "copies") } ?? "the cluster's number of copies"
        return (["\(partitions.of("partition")), \(copies)"] + settings.map { "\($0.name)=\($0.value)" })
            .joined(separator: " ")
    }
}

extension TopicPlan {
    /// A line for each topic and each change, and one for all.
    var lines: [String] {
        var lines: [String] = []
        for entry in entries {
            let name = entry.wanted.name
            if entry.actual == nil {
                lines.append("+ \(name): \(entry.wanted.summary)")
            } else if entry.changes.isEmpty {
                lines.append("= \(name)")
            } else {
                let changes = entry.changes.map { "\($0.what) \($0.actual.printable()) → \($0.wanted)" }
                lines.append("~ \(name): \(changes.joined(separator: ", "))")
            }
        }
        let create = missing.count
        lines.append(
            "\(create) to create, \(unsettled - create) to change, \(entries.count - unsettled) as they should be")
        return lines
    }

    /// The findings about the topics, a line each.
    var findings: [String] {
        entries.flatMap { entry in
            entry.findings.map { "\($0.severity): \(entry.wanted.name): \($0.message.printable(limit: 400))" }
        }
    }

    /// The whole plan as JSON.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("ok")
        writer.bool(!hasErrors)
        writer.member("to_create", Int64(missing.count))
        writer.member("to_change", Int64(unsettled - missing.count))
        writer.name("topics")
        writer.beginArray()
        for entry in entries { entry.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.printable
    }
}

extension TopicPlan.Entry {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("topic", wanted.name)
        writer.member("use", wanted.use.rawValue)
        writer.member("action", actual == nil ? "create" : changes.isEmpty ? "none" : "change")
        writer.member("partitions", Int64(actual?.partitions ?? wanted.partitions))
        if let copies = actual?.replication ?? wanted.replication { writer.member("replication", Int64(copies)) }
        writer.name("settings")
        writer.beginObject()
        for setting in wanted.settings {
            if let value = actual == nil ? setting.value : actual?.settings[setting.name] {
                writer.member(setting.name, value)
            }
        }
        writer.endObject()
        writer.name("changes")
        writer.beginArray()
        for change in changes {
            writer.beginObject()
            writer.member("what", change.what)
            writer.member("actual", change.actual)
            writer.member("wanted", change.wanted)
            writer.endObject()
        }
        writer.endArray()
        writer.name("findings")
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            writer.member("severity", finding.severity.rawValue)
            writer.member("message", finding.message)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}
