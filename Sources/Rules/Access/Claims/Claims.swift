import JOSE

extension JSONValue {
    /// A NumericDate (RFC 7519, section 2), which may have a fraction; nil for anything but a number.
    var numericDate: UnixTime? {
        if let seconds = integer { return UnixTime(seconds: seconds) }
        guard let seconds = number else { return nil }
        // Whatever lies beyond these, `UnixTime` brings to its own ends.
        return UnixTime(microseconds: Int64(min(max(seconds, -1e12), 1e12) * 1e6))
    }
}

extension UnixTime {
    /// Returns the moment later by `duration`, or earlier where it is negative, in whole seconds.
    func advanced(by duration: Duration) -> UnixTime { advanced(bySeconds: duration.components.seconds) }
}

extension String {
    /// A `typ` in one spelling: it is compared without regard to case, and may leave `application/` away (RFC 7515, 4.1.9).
    var mediaSubtype: String {
        let type = lowercased()
        return type.hasPrefix("application/") ? String(type.dropFirst("application/".count)) : type
    }
}
