package import AdapterKit
package import YAMLReading
import Yams

// How tests write times and JSON, those of a vendor's file and those of a configuration.

extension Section {
    /// Reads a moment: a date-time of RFC 3339, or seconds since 1970.
    package func time(_ name: String) -> UnixTime? {
        guard let (text, node) = text(name) else { return nil }
        if let seconds = Int64(text) { return UnixTime(seconds: seconds) }
        if let time = RFC3339.parse(text) { return time }
        diagnostics.error(node, "\(path(name)) is a time such as 2026-11-25T12:00:00Z, or seconds since 1970")
        return nil
    }

    /// Reads a value as JSON.
    package func json(_ name: String) -> [UInt8]? {
        guard let node = value(name) else { return nil }
        if let json = node.json() { return json }
        diagnostics.error(node, "\(path(name)) cannot be written as JSON")
        return nil
    }
}
