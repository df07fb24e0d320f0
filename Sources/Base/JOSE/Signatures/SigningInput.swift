/// A compact JWS under construction: `header.payload` first, `.signature` once it is there.
///
/// The header is encoded once per key and reused; the payload's bytes are written once and encoded once.
public struct SigningInput: Sendable {
    /// The bytes to sign: the encoded header, a dot, the encoded payload.
    public private(set) var bytes: [UInt8]
    /// The label from which the signing key is derived; nil where the key itself signs: see
    /// `SigningKey.derived(with:)`.
    public private(set) var keyLabel: [UInt8]?

    /// Room for the signature of a 3072-bit RSA key, so that the token is finished without another allocation.
    private static let signatureRoom = 513

    /// - Parameters:
    ///   - encodedHeader: the protected header, base64url.
    ///   - payload: the claims' bytes.
    public init(encodedHeader: [UInt8], payload: [UInt8]) {
        self.init(encodedHeader: encodedHeader) { $0.append(payload) }
    }

    /// - Parameters:
    ///   - encodedHeader: the protected header, base64url.
    ///   - keyLabel: the label from which the signing key is derived; nil for the key itself.
    ///   - isFinishedInPlace: whether to leave room for the signature.
    ///   - write: writes the claims.
    public init(
        encodedHeader: [UInt8], keyLabel: [UInt8]? = nil, isFinishedInPlace: Bool = true,
        _ write: (inout ByteWriter) -> Void
    ) {
        self.keyLabel = keyLabel
        var bytes: [UInt8] = []
        unsafe ByteWriter.with(write) { payload in
            let start = encodedHeader.count + 1
            let count = start + Base64.url.encodedCount(of: payload.count)
            bytes = ByteWriter.bytes(estimate: count + (isFinishedInPlace ? Self.signatureRoom : 0)) { text in
                text.append(encodedHeader)
                text.append(UInt8(ascii: "."))
                unsafe text.append(base64URL: payload)
            }
        }
        self.bytes = bytes
    }

    /// An input that was put together elsewhere: `header.payload`, both base64url.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the finished token.
    public consuming func token(signature: [UInt8]) -> [UInt8] {
        unsafe signature.withUnsafeBufferPointer { unsafe append($0) }
        return bytes
    }

    /// Writes the finished token to `output`.
    public func writeToken(signature: [UInt8], to output: inout ByteWriter) {
        output.append(bytes)
        output.append(UInt8(ascii: "."))
        output.append(base64URL: signature)
    }

    /// The finished token.
    @unsafe consuming func token(signature: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        unsafe append(signature)
        return bytes
    }

    private mutating func append(_ signature: UnsafeBufferPointer<UInt8>) {
        unsafe Base64.url.encode(signature, after: UInt8(ascii: "."), appendingTo: &bytes)
    }
}
