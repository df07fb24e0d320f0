import Formats

/// A header of the PROXY protocol, version 2, as HAProxy's specification (section 2.2) has it.
struct ProxyHeader: Equatable {
    /// Bytes that are no such header.
    struct Malformed: Error {}

    /// The state of reading a connection's first bytes.
    enum Reading: Equatable {
        /// More bytes are needed.
        case incomplete
        /// A header of `length` bytes.
        case header(ProxyHeader, length: Int)
    }

    /// The caller; nil where the proxy connects for itself, or the caller has no IP address.
    let source: IPAddress?

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    /// The longest header that is read, in bytes: addresses, and a proxy's further fields.
    private static let mostBytes = 4096

    /// Reads the header at the beginning of `bytes`.
    ///
    /// - Throws: `Malformed` where `bytes` begin with no header.
    static func read(_ bytes: [UInt8]) throws(Malformed) -> Reading {
        guard signature.starts(with: bytes.prefix(signature.count)) else { throw Malformed() }
        guard bytes.count >= 16 else { return .incomplete }
        let (version, family) = (bytes[12], bytes[13])
        let length = 16 + (Int(bytes[14]) << 8 | Int(bytes[15]))
        guard version >> 4 == 2, version & 0x0F <= 1, length <= mostBytes else { throw Malformed() }
        guard bytes.count >= length else { return .incomplete }
        // LOCAL: the proxy's own connection, as for a health check.
        guard version & 0x0F == 1 else { return .header(ProxyHeader(source: nil), length: length) }
        let size: Int
        switch family >> 4 {
        case 1: size = 4
        case 2: size = 16
        default: return .header(ProxyHeader(source: nil), length: length)
        }
        guard length >= 16 + size * 2 + 4 else { throw Malformed() }
        return .header(ProxyHeader(source: IPAddress(bytes: Array(bytes[16..<(16 + size)]))), length: length)
    }
}
