package import Foundation

/// The time between two tries, in seconds.
package enum RetryDelay {
    /// The maximum time that the client accepts from `Retry-After`, in seconds.
    private static let limit = 3600.0
    /// The maximum random part of a delay, in seconds.
    private static let cap = 30.0

    /// Returns the seconds of the header `Retry-After`, at most an hour. The header is a number or a date (RFC 9110,
    /// section 10.2.3).
    ///
    /// Returns nil if the header is missing or unreadable, or if its date has passed.
    ///
    /// - Parameters:
    ///   - field: the header's value; nil without the header.
    ///   - served: the header `Date` of the same answer. The function compares a date with this time.
    ///   - now: the time of the device's clock, for an answer without a readable `Date`.
    package static func retryAfter(_ field: String?, served: String?, now: Date) -> Double? {
        guard let text = field?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(text).map { min($0, limit) } }
        guard let due = date(text) else { return nil }
        let seconds = due.timeIntervalSince(served.flatMap(date) ?? now)
        return seconds >= 0 ? min(seconds, limit) : nil
    }

    /// Returns the seconds until the next try: a random time (full jitter), added to the time of `Retry-After`.
    ///
    /// - Parameters:
    ///   - retryAfter: the seconds of `Retry-After`; nil without this header.
    ///   - tries: the number of failed tries in a row.
    ///   - random: a random number from 0 to less than 1.
    package static func seconds(retryAfter: Double?, tries: Int, random: Double) -> Double {
        let spread = min(cap, pow(2, Double(min(tries, 10))) / 4)
        guard let retryAfter else { return random * spread }
        return retryAfter + random * min(spread, 1 + retryAfter / 2)
    }

    /// Reads an HTTP date in any of its three forms (RFC 9110, section 5.6.7). Returns nil for any other string.
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in ["EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
