package import Formats

/// The requests below an endpoint. The composed URL is sent byte by byte: a target cannot change the host, and a host
/// cannot contain a user.
extension EndpointURL {
    /// Returns the URL of a request for `target`, a path and a query; nil where it is neither (RFC 3986, sections 3.3
    /// and 3.4).
    package func appending(_ target: String) -> String? {
        guard target.utf8.first == UInt8(ascii: "/"), Self.isEncoded(target[...]) else { return nil }
        return text + target
    }

    private static func isEncoded(_ target: Substring) -> Bool {
        target.split(separator: "?", omittingEmptySubsequences: false).allSatisfy { part in
            part.split(separator: "/").allSatisfy(isEncodedSegment)
        }
    }
}
