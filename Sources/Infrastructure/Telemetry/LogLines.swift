public import Foundation
public import Logging

/// Writes one JSON object per log line to standard error: `time`, `level`, `message`, `logger`, then the details by their
/// keys.
public struct JSONLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let write: @Sendable (String) -> Void

    public init(
        label: String, level: Logger.Level, write: @escaping @Sendable (String) -> Void = JSONLogHandler.standardError
    ) {
        self.label = label
        logLevel = level
        self.write = write
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

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

/// Writes one line of text per log line to standard error, for people: the time, the level, the message, then the details
/// as `key=value`. A value with spaces or quotes is a JSON string.
public struct TextLogHandler: LogHandler {
    public var logLevel: Logger.Level
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let write: @Sendable (String) -> Void
    private let now: @Sendable () -> Date
    private static let levelWidth = 8

    public init(
        level: Logger.Level, write: @escaping @Sendable (String) -> Void = JSONLogHandler.standardError,
        now: @escaping @Sendable () -> Date = { .now }
    ) {
        logLevel = level
        self.write = write
        self.now = now
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let level = "\(event.level)"
        let padding = String(repeating: " ", count: max(0, Self.levelWidth - level.utf8.count))
        var line = "\(now().formatted(LogLine.timeFormat)) \(level)\(padding) "
        line += Self.printable(event.message.description)
        var details = LogLine.details(of: event, metadata, metadataProvider)
        if let error = event.error { details.append(("error", "\(error)")) }
        if !details.isEmpty { line += " " }
        for (key, value) in details { line += " \(Self.printable(key))=\(Self.value(value))" }
        write(line + "\n")
    }

    /// Returns `value` as it is if a reader can see where it ends, else as a JSON string.
    private static func value(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0 != " " && $0 != "\"" && $0 != "=" && !LogLine.isHidden($0)
        }
        return isPlain && !value.isEmpty ? value : JSONLogHandler.quoted(value)
    }

    /// Returns `text` with escapes for characters that could change a terminal, begin another line or show the text in another order.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: LogLine.isHidden) else { return text }
        return JSONLogHandler.quoted(text)
    }
}

/// The parts that the lines of all formats share.
enum LogLine {
    static let timeFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// Returns the details of a line, by their keys: a line's own have precedence over the logger's.
    static func details(
        of event: LogEvent, _ metadata: Logger.Metadata, _ provider: Logger.MetadataProvider?
    ) -> [(key: String, value: String)] {
        let provided = provider?.get() ?? [:]
        return provided.merging(metadata) { _, own in own }.merging(event.metadata ?? [:]) { _, new in new }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
    }

    /// Returns whether a terminal would act on `scalar` instead of showing it, or show others in another order.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x7F else { return scalar.value < 0x20 }
        return [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    @Sendable static func write(_ line: String) {
        // A full disk behind standard error is no reason to stop minting; `write(_:)` would trap.
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
}
