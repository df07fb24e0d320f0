/// Signs with one key many times: libcrypto's parts are fetched and set up once, not per signature.
///
/// Not `Sendable`: a signer belongs to one thread at a time. Make one per thread.
@safe
@_spi(Signing) public final class Signer {
    private let context: SignatureContext
    private let key: SigningKey
    /// The signer of the key that was derived last: all tokens of a day share its label.
    private var derived: (label: [UInt8], signer: Signer)?
    /// The key's algorithm.
    public let algorithm: Algorithm
    /// The width of a coordinate of an ECDSA signature; nil for other algorithms.
    private let width: Int?
    /// The last ECDSA signature as JOSE writes it.
    private let raw: UnsafeMutableBufferPointer<UInt8>

    /// A signer for `key`.
    ///
    /// - Throws: `JOSEError` with `.libcrypto` when libcrypto has no such algorithm or memory.
    public init(_ key: SigningKey) throws(JOSEError) {
        context = try SignatureContext(key)
        self.key = key
        algorithm = key.algorithm
        width = if case .ec(let curve) = key.algorithm.keyType { curve.coordinateBytes } else { nil }
        unsafe raw = UnsafeMutableBufferPointer.allocate(capacity: 2 * (width ?? 0))
    }

    deinit { unsafe raw.deallocate() }

    /// Returns the JWS signature of `input`: for ECDSA the raw r‖s of RFC 7518, section 3.4.
    ///
    /// - Throws: `JOSEError` with `.libcrypto`.
    public func sign(_ input: [UInt8]) throws(JOSEError) -> [UInt8] {
        unsafe Array(try signature(of: input))
    }

    /// Returns the JWS signature of `input`, with the key that its label requires.
    ///
    /// - Throws: `JOSEError` with `.libcrypto`, or with `.invalidKey` where a label asks to derive from a key that is no secret.
    public func sign(_ input: SigningInput) throws(JOSEError) -> [UInt8] {
        guard let label = input.keyLabel else { return try sign(input.bytes) }
        return try signer(derivedWith: label).sign(input.bytes)
    }

    private func signer(derivedWith label: [UInt8]) throws(JOSEError) -> Signer {
        if let derived, derived.label == label { return derived.signer }
        let signer = try Signer(key.derived(with: label))
        derived = (label, signer)
        return signer
    }

    /// Returns the HMAC of `label`, as a secret.
    func secret(of label: [UInt8]) throws(JOSEError) -> SecretBytes {
        unsafe SecretBytes(copying: try signature(of: label))
    }

    /// Returns the compact token of `input`: the signing input, a dot, the signature.
    ///
    /// - Throws: as `sign`.
    public func token(_ input: consuming SigningInput) throws(JOSEError) -> [UInt8] {
        if let label = input.keyLabel {
            let signature = try signer(derivedWith: label).sign(input.bytes)
            return input.token(signature: signature)
        }
        let signature = unsafe try signature(of: input.bytes)
        return unsafe input.token(signature: signature)
    }

    /// Signs `input`.
    ///
    /// - Returns: the signature, which the next one overwrites.
    private func signature(of input: [UInt8]) throws(JOSEError) -> UnsafeBufferPointer<UInt8> {
        guard let count = unsafe input.withUnsafeBufferPointer({ unsafe context.sign($0) }) else {
            throw .signingFailed
        }
        let signature = unsafe UnsafeBufferPointer(rebasing: context.output[..<count])
        guard let width else { return unsafe signature }
        guard unsafe ECDSASignature.write(der: signature, width: width, to: raw) else { throw .signingFailed }
        return unsafe UnsafeBufferPointer(raw)
    }
}

/// libcrypto alone, signing the same bytes again and again into the same place: this machine's limit, against which
/// `remint-bench` holds everything else.
///
/// Not `Sendable`: one per thread.
@_spi(Signing) public final class BareSigner {
    private let context: SignatureContext

    /// - Throws: `JOSEError` with `.libcrypto`.
    public init(_ key: SigningKey) throws(JOSEError) { context = try SignatureContext(key) }

    /// Signs `input` the given number of times.
    ///
    /// - Throws: `JOSEError` with `.libcrypto`.
    public func sign(_ input: [UInt8], times: Int) throws(JOSEError) {
        for _ in 0..<times {
            guard unsafe input.withUnsafeBufferPointer({ unsafe context.sign($0) }) != nil else {
                throw .signingFailed
            }
        }
    }
}
