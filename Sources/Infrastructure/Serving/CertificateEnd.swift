package import JOSE
package import YAMLReading

/// The end of a certificate that this program shows to others.
package struct CertificateEnd: Sendable, Equatable {
    /// The warning comes 30 days before the end.
    private static let notice: Int64 = 30 * 86_400

    private let key: String
    private let end: UnixTime

    /// The end of the certificate that the configuration's `key` names.
    package init(_ key: String, _ end: UnixTime) {
        self.key = key
        self.end = end
    }

    /// Returns an error for a certificate that is over at `now`, and a warning for one that ends within 30 days; nil for
    /// any other.
    package func diagnostic(at place: FileLocation, _ now: UnixTime) -> Diagnostic? {
        guard end < now.advanced(bySeconds: Self.notice) else { return nil }
        guard end > now else {
            return Diagnostic(.error, at: place, "\(key): the certificate expired at \(end); replace its files")
        }
        return Diagnostic(
            .warning, at: place,
            "\(key): the certificate expires at \(end), in \(now.left(until: end)); replace its files")
    }
}
