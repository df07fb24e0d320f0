import Foundation
import Logging

/// The parts that the lines of all formats share.
enum LogLine {
    /// The time to the millisecond, in UTC.
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

    /// Writes a line to standard error, whole.
    @Sendable static func write(_ line: String) {
        // A full disk behind standard error is no reason to stop minting; `write(_:)` would trap.
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
}
