package import AdapterKit
import Pipeline
import Wiring

/// The metadata of a committed offset: the highest version so far, the first record of the partition's log, and the time.
///
/// The partition's next worker continues above that version, and notices by the record that the topic was created
/// again.
package struct CommitMetadata: Equatable {
    /// The highest version; nil where the offset states none.
    var version: Int64?
    /// The log's first record at the time of the commit; nil where the offset states none.
    var mark: LogMark?
    /// The time of the commit; nil where the offset states none.
    var committedAt: UnixTime?
}

extension CommitMetadata {
    /// The first part where no token was minted yet.
    private static let unversioned = VersionMetadata.text(0)
    private static let marked = "first="
    private static let timed = "at="

    /// Returns the time of the commit in the metadata `text`; nil where no worker stated one.
    package static func time(_ text: String) -> UnixTime? {
        guard VersionMetadata.isOurs(text) else { return nil }
        return text.split(separator: ";").last { $0.hasPrefix(timed) }.flatMap { number($0.dropFirst(timed.count)) }
            .map { UnixTime(milliseconds: $0) }
    }

    /// Reads `text` at the time `now`, as far as a worker wrote it.
    ///
    /// - Throws: `RecordFault.version` for a version that no worker can have given.
    init(_ text: String, at now: UnixTime) throws(RecordFault) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let first = parts.first.map { String($0) } ?? ""
        version = first == Self.unversioned ? nil : try VersionMetadata.version(first, at: now)
        guard VersionMetadata.isOurs(text) else { return }
        for part in parts.dropFirst() {
            if part.hasPrefix(Self.marked) { mark = Self.mark(part.dropFirst(Self.marked.count)) }
        }
        committedAt = Self.time(text)
    }

    var text: String {
        var text = VersionMetadata.text(version ?? 0)
        if let mark { text += ";\(Self.marked)\(mark.offset)@\(mark.timestamp.map { String($0) } ?? "-")" }
        if let committedAt { text += ";\(Self.timed)\(committedAt.milliseconds)" }
        return text
    }

    private static func mark(_ text: Substring) -> LogMark? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let offset = number(parts[0]) else { return nil }
        if parts[1] == "-" { return LogMark(offset: offset, timestamp: nil) }
        return number(parts[1]).map { LogMark(offset: offset, timestamp: $0) }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

/// The highest version so far, as the metadata of a committed offset.
///
/// It is committed with its tokens, and the partition's next worker reads it, however the clocks of the two workers
/// differ.
enum VersionMetadata {
    private static let name = "remint-version="

    /// Returns whether a worker wrote `metadata`.
    static func isOurs(_ metadata: String) -> Bool { metadata.hasPrefix(name) }

    static func text(_ version: Int64) -> String { name + String(version) }

    /// Returns the version in `metadata`, read at the time `now`; nil where another program wrote it.
    ///
    /// - Throws: `RecordFault.version` for a version that is no number, not positive, or more than a day ahead.
    static func version(_ metadata: String, at now: UnixTime) throws(RecordFault) -> Int64? {
        guard metadata.hasPrefix(name) else { return nil }
        guard let version = Int64(metadata.dropFirst(name.count)), ReadBackBound.admits(version: version, at: now)
        else {
            throw .version
        }
        return version
    }
}
