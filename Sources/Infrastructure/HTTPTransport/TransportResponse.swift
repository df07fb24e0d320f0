package import Formats
package import NIOHTTP1

/// An answer that is no redirect, with its whole body where the body was asked for.
package struct TransportResponse: Sendable {
    /// The status.
    package let status: Int
    /// The headers.
    package let headers: HTTPHeaders
    /// The body; empty where only the head was read, and for an error whose body is encoded.
    package internal(set) var body: [UInt8] = []

    /// Returns the first header of this name.
    package func header(_ name: String) -> String? { headers.first(name: name) }

    /// Returns the server's time at the answer (`Date`, RFC 9110, section 6.6.1); nil for none that can be read.
    ///
    /// A cache keeps an answer with its old `Date`, and states the time since then in `Age`. A proxy may replace `Date` and pass `Age`
    /// on. So `Age` explains a `Date` in the past, and never moves it into the future.
    ///
    /// - Parameter now: the current time, near which a year of two digits lies.
    package func date(now: UnixTime) -> UnixTime? {
        guard let date = header("date").flatMap({ HTTPDate.parse($0, now: now) }) else { return nil }
        guard date < now, let age = header("age").flatMap({ Int64($0) }), age > 0 else { return date }
        return min(now, date.advanced(bySeconds: age))
    }
}
