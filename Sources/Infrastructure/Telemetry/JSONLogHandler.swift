import Foundation
public import Logging

/// Writes one JSON object per log line to standard error: `time`, `level`, `message`, `logger`, then the details by their
/// keys.
public struct JSONLogHandler: LogHandler {
    /// The least level of the lines that it writes.
    public var logLevel: Logger.Level
    /// The details of every line.
    public var metadata: Logger.Metadata = [:]
    /// The source of details at the time of a line.
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let write: @Sendable (String) -> Void

    /// A handler for the logger `label` that hands finished lines to `write`.
    public init(
        label: String, level: Logger.Level, write: @escaping @Sendable (String) -> Void = JSONLogHandler.standardError
    ) {
        self.label = label
        logLevel = level
        self.write = write
    }

    /// The detail `key` of every line.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes `event` as one line.
    public func log(event: LogEvent) {
        var line = "{\"time\":\(Self.quoted(Date.now.formatted(LogLine.timeFormat)))"
        line += ",\"level\":\"\(event.level)\",\"message\":\(Self.quoted(event.message.description))"
        line += ",\"logger\":\(Self.quoted(label))"
        for (key, value) in LogLine.details(of: event, metadata, metadataProvider) {
            // A name of the line's own would be a duplicate.
            let key = Self.ownNames.contains(key) ? "metadata.\(key)" : key
            line += ",\(Self.quoted(key)):\(Self.quoted(value))"
        }
        if let error = event.error { line += ",\"error\":\(Self.quoted("\(error)"))" }
        write(line + "}\n")
    }

    @Sendable public static func standardError(_ line: String) { LogLine.write(line) }

    private static let ownNames: Set<String> = ["time", "level", "message", "logger", "error"]

    /// Returns `text` as a JSON string.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case _ where LogLine.isHidden(scalar):
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
