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
}
