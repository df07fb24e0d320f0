/// A compact JWS (RFC 7515, section 7.1) taken apart, and nothing more: its signature has not been checked.
public struct CompactJWS: Sendable {
    /// The limits over which a token is refused, before it costs anything.
    public struct Limits: Sendable {
        /// The longest token, in bytes.
        public var bytes: Int
        /// The most containers inside one another, in header and payload.
        public var depth: Int

        /// Limits of `bytes` bytes and `depth` levels.
        public init(bytes: Int = 16 << 10, depth: Int = 16) {
            self.bytes = bytes
            self.depth = depth
        }
    }

    private let protected: ProtectedHeader
    /// The protected header: an object.
    public var header: JSONValue { protected.root }
    /// The header's `alg`, as it is there. Never a reason to use that algorithm.
    public var algorithmName: String { protected.algorithmName }
    /// The header's `kid`, if any.
    public var keyID: String? { protected.keyID }
    /// The payload's bytes.
    public let payload: [UInt8]
    /// The signature's bytes.
    public let signature: [UInt8]
    /// The bytes that were signed: the two encoded parts and the dot between them.
    public let signingInput: [UInt8]
    private let limits: Limits

    /// Parses `token`.
    ///
    /// - Throws: `JOSEError`: `.tokenTooLarge`, `.notThreeParts`, `.malformedHeader`, `.malformedSignature`,
    ///   `.unsupportedCritical`.
    public init(parsing token: [UInt8], limits: Limits = Limits()) throws(JOSEError) {
        guard token.count <= limits.bytes else {
            throw JOSEError(.tokenTooLarge, "the token is longer than \(limits.bytes) bytes")
        }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw JOSEError(.notThreeParts, "a compact token has three parts with two dots between them")
        }
        self.limits = limits
        protected = try ProtectedHeader(parsing: parts[0], limits)
        payload = try Base64.url.decoded(parts[1], .notThreeParts, "payload")
        signature = try Base64.url.decoded(parts[2], .malformedSignature, "signature")
        signingInput = Array(token[..<parts[1].endIndex])
    }

    /// Returns the payload as an object of claims.
    ///
    /// - Throws: `JOSEError` with `.malformedPayload`.
    public func claims() throws(JOSEError) -> JSONValue {
        do throws(JSONError) {
            let root = try JSONDocument(parsing: payload, limits: .init(bytes: limits.bytes, depth: limits.depth)).root
            if root.isObject { return root }
        } catch { throw JOSEError(.malformedPayload, "the payload is not usable JSON: \(error)") }
        throw JOSEError(.malformedPayload, "the payload is not a JSON object")
    }

    /// Verifies that `key` made the signature, by the key's own algorithm.
    ///
    /// - Throws: `JOSEError` with `.algorithmMismatch` or `.signatureInvalid`.
    public func verify(with key: VerificationKey) throws(JOSEError) {
        guard Algorithm(named: algorithmName) == key.algorithm else {
            throw JOSEError(
                .algorithmMismatch, "the token does not name the key's algorithm, \(key.algorithm.rawValue)")
        }
        guard key.isValid(signature, of: signingInput) else {
            throw JOSEError(.signatureInvalid, "the signature is not the key's")
        }
    }

    /// Returns the key among `keys` that made the signature. A token with a `kid` is tried with the keys of that id and
    /// those without an id, a token without one with all.
    ///
    /// - Throws: `JOSEError` with `.noMatchingKey`, `.algorithmMismatch` or `.signatureInvalid`.
    @discardableResult
    public func verify(withAnyOf keys: [VerificationKey]) throws(JOSEError) -> VerificationKey {
        let candidates = keys.filter { protected.mayMean($0.keyID) }
        guard !candidates.isEmpty else { throw JOSEError(.noMatchingKey, "no key has the token's \"kid\"") }
        var failure = JOSEError(.algorithmMismatch, "no key is of the token's algorithm")
        for key in candidates {
            do throws(JOSEError) {
                try verify(with: key)
                return key
            } catch {
                if error.code == .signatureInvalid { failure = error }
            }
        }
        throw failure
    }
}
