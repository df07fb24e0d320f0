public import Foundation
public import Logging

/// Writes one line of text per log line to standard error, for people: the time, the level, the message, then the details
/// as `key=value`. A value with spaces or quotes is a JSON string.
public struct TextLogHandler: LogHandler {
    /// The least level of the lines that it writes.
    public var logLevel: Logger.Level
    /// The details of every line.
    public var metadata: Logger.Metadata = [:]
    /// The source of details at the time of a line.
    public var metadataProvider: Logger.MetadataProvider?
    private let write: @Sendable (String) -> Void
    private let now: @Sendable () -> Date

    /// The width of the longest level.
    private static let levelWidth = 8

    /// A handler that hands finished lines to `write`.
    public init(
        level: Logger.Level, write: @escaping @Sendable (String) -> Void = JSONLogHandler.standardError,
        now: @escaping @Sendable () -> Date = { .now }
    ) {
        logLevel = level
        self.write = write
        self.now = now
    }

    /// The detail `key` of every line.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes `event` as one line.
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
