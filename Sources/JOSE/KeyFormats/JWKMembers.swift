import COpenSSL

/// The members of one JWK on their way into libcrypto.
struct JWKMembers {
    /// The text, which `root` reads; overwritten when the import is over. Nil for a JWK that stands in another text.
    private let text: SecretArray?
    private let root: JSONValue
    let type: String

    init(_ text: SecretBytes) throws(JOSEError) {
        let text = SecretArray(copying: text)
        self.text = text
        do throws(JSONError) {
            root = try JSONDocument(parsing: text.bytes, limits: .init(bytes: 1 << 16, depth: 4)).root
        } catch { throw JOSEError(.invalidKey, "not a JWK: \(error)") }
        type = try Self.type(of: root)
    }

    /// A public JWK inside another text: a set's member, a header's `jwk`.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, also where it holds a member that is private (RFC 7518, sections 6.2.2,
    ///   6.3.2 and 6.4).
    init(publicKey value: JSONValue) throws(JOSEError) {
        text = nil
        root = value
        type = try Self.type(of: value)
        for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] where value[name] != nil {
            throw JOSEError(
                .invalidKey, "the JWK holds the private member \"\(name)\"; only public keys are taken here")
        }
    }

    private static func type(of root: JSONValue) throws(JOSEError) -> String {
        guard let type = root["kty"]?.string else { throw JOSEError(.invalidKey, "the JWK has no \"kty\"") }
        return type
    }

    var keyID: String? { string("kid") }

    func string(_ name: String) -> String? { root[name]?.string }

    func has(_ name: String) -> Bool { root[name] != nil }

    func algorithm(asked: Algorithm?) throws(JOSEError) -> Algorithm {
        let stated = string("alg")
        if let asked {
            guard stated == nil || stated == asked.rawValue else {
                throw JOSEError(.invalidKey, "the JWK's \"alg\" is not \(asked.rawValue)")
            }
            return asked
        }
        guard let stated else { throw JOSEError(.invalidKey, "the JWK has no \"alg\"; state the algorithm") }
        guard let algorithm = Algorithm(rawValue: stated) else {
            throw JOSEError(.unsupportedAlgorithm, "the JWK's \"alg\" is not an algorithm offered here")
        }
        return algorithm
    }

    /// Whether the JWK's own `alg`, if it has one, is this algorithm.
    func allows(_ algorithm: Algorithm) -> Bool {
        guard let stated = root["alg"] else { return true }
        return algorithm.rawValue.hasSameBytes(as: stated.string)
    }

    /// Checks that an RSA key's numbers are not so long that they only serve to keep a verifier busy.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`.
    func requireModestNumbers() throws(JOSEError) {
        guard try bytes("n").count <= 1024, try bytes("e").count <= 8 else {
            throw JOSEError(.invalidKey, "an RSA key has at most 8192 bits here, and an exponent of at most 64")
        }
    }

    /// The bytes of a member that is private.
    func secret(_ name: String) throws(JOSEError) -> SecretBytes {
        try member(name) { member throws(JOSEError) in try Base64.url.decodeSecret(member) }
    }

    func evpKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        switch type {
        case "RSA": try rsaKey(isPrivate: isPrivate)
        case "EC": try ecKey(isPrivate: isPrivate)
        case "OKP": try okpKey(isPrivate: isPrivate)
        default: throw JOSEError(.invalidKey, "the JWK's \"kty\" is none of RSA, EC, OKP, oct")
        }
    }

    /// The bytes of a member that is public.
    private func bytes(_ name: String) throws(JOSEError) -> [UInt8] {
        try member(name) { member throws(JOSEError) in try Base64.url.decoded(member) }
    }

    private func member<Bytes>(
        _ name: String, _ decode: (ArraySlice<UInt8>) throws(JOSEError) -> Bytes
    ) throws(JOSEError) -> Bytes {
        guard let member = root[name], member.isString else {
            throw JOSEError(.invalidKey, "the JWK lacks the string member \"\(name)\"")
        }
        do throws(JOSEError) { return try decode(member.rawBytes) } catch {
            throw JOSEError(.invalidKey, "the JWK's \"\(name)\" is not base64url")
        }
    }

    private func rsaKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        let parameters = try KeyParameters()
        try parameters.push(OSSL_PKEY_PARAM_RSA_N, number: bytes("n"))
        try parameters.push(OSSL_PKEY_PARAM_RSA_E, number: bytes("e"))
        if isPrivate {
            try parameters.push(OSSL_PKEY_PARAM_RSA_D, number: secret("d"))
            // All five or none (RFC 7518, 6.3.2). libcrypto's names are compound macros, spelt out here.
            let crt = [
                ("p", "rsa-factor1"), ("q", "rsa-factor2"),
                ("dp", "rsa-exponent1"), ("dq", "rsa-exponent2"),
                ("qi", "rsa-coefficient1"),
            ]
            if crt.contains(where: { has($0.0) }) {
                for (member, name) in crt { try parameters.push(name, number: secret(member)) }
            }
        }
        let key = try parameters.key("RSA", isPrivate: isPrivate)
        // The pairwise check needs the factors; a key of n, e and d alone is checked by its first use.
        if isPrivate, has("p") { try key.requireConsistency() }
        return key
    }

    private func ecKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        guard let curve = root["crv"]?.string.flatMap(Algorithm.Curve.init(rawValue:)) else {
            throw JOSEError(.invalidKey, "the JWK's \"crv\" is none of P-256, P-384, P-521")
        }
        let x = try bytes("x"), y = try bytes("y")
        guard x.count == curve.coordinateBytes, y.count == curve.coordinateBytes else {
            throw JOSEError(
                .invalidKey, "a coordinate on \(curve.rawValue) is \(curve.coordinateBytes) bytes (RFC 7518, 6.2.1.2)")
        }
        let parameters = try KeyParameters()
        try parameters.push(OSSL_PKEY_PARAM_GROUP_NAME, text: curve.groupName)
        try parameters.push(OSSL_PKEY_PARAM_PUB_KEY, octets: [4] + x + y)
        if isPrivate { try parameters.push(OSSL_PKEY_PARAM_PRIV_KEY, number: secret("d")) }
        let key = try parameters.key("EC", isPrivate: isPrivate)
        if isPrivate { try key.requireConsistency() }
        return key
    }

    private func okpKey(isPrivate: Bool) throws(JOSEError) -> EVPKey {
        guard root["crv"]?.string == "Ed25519" else {
            throw JOSEError(.invalidKey, "the JWK's \"crv\" is not Ed25519, the only one offered for OKP")
        }
        let x = try bytes("x")
        let publicKey = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, x, x.count).map {
            unsafe EVPKey(owning: $0)
        }
        guard let publicKey else {
            clearCryptoErrors()
            throw JOSEError(.invalidKey, "the JWK's \"x\" is not an Ed25519 public key")
        }
        guard isPrivate else { return publicKey }
        let privateKey = unsafe try secret("d").withBytes { d in
            let bytes = unsafe d.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, d.count).map {
                unsafe EVPKey(owning: $0)
            }
        }
        guard let privateKey, privateKey.hasSamePublicKey(as: publicKey) else {
            clearCryptoErrors()
            throw JOSEError(.invalidKey, "the JWK's \"d\" and \"x\" are not one Ed25519 key")
        }
        return privateKey
    }
}

extension EVPKey {
    /// Checks that the private and the public numbers belong together.
    func requireConsistency() throws(JOSEError) {
        guard unsafe try check({ unsafe EVP_PKEY_pairwise_check($0) }) else {
            throw JOSEError(.invalidKey, "the JWK's private and public members are not one key")
        }
    }

    /// Checks that the public key is a point of its curve's group, and not the one at infinity.
    func requireValidPoint() throws(JOSEError) {
        guard unsafe try check({ unsafe EVP_PKEY_public_check($0) }) else {
            throw JOSEError(.invalidKey, "the JWK's \"x\" and \"y\" are not a point of its curve")
        }
    }

    private func check(_ check: (OpaquePointer) -> Int32) throws(JOSEError) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else {
            throw JOSEError(.libcrypto, "libcrypto could not check the key")
        }
        defer {
            unsafe EVP_PKEY_CTX_free(context)
            clearCryptoErrors()
        }
        return unsafe check(context) == 1
    }
}

/// Collects numbers for `EVP_PKEY_fromdata`; secret ones are cleansed with it.
@safe
private final class KeyParameters {
    private let builder: OpaquePointer
    private var numbers: [OpaquePointer] = unsafe []
    /// Texts and octets: the builder keeps pointers to them until it is converted.
    private var stored: [UnsafeMutableRawBufferPointer] = unsafe []

    init() throws(JOSEError) {
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { throw Self.outOfMemory }
        unsafe self.builder = unsafe builder
    }

    deinit {
        unsafe numbers.forEach { unsafe BN_clear_free($0) }
        unsafe OSSL_PARAM_BLD_free(builder)
        unsafe stored.forEach { unsafe $0.deallocate() }
    }

    func push(_ name: String, number bytes: [UInt8]) throws(JOSEError) {
        guard let number = unsafe BN_new() else { throw Self.outOfMemory }
        unsafe numbers.append(number)
        guard unsafe BN_bin2bn(bytes, Int32(clamping: bytes.count), number) != nil,
            unsafe OSSL_PARAM_BLD_push_BN(builder, store(name), number) == 1
        else { throw Self.notANumber }
    }

    func push(_ name: String, number secret: SecretBytes) throws(JOSEError) {
        // libcrypto overwrites such a number, and the parameter it becomes.
        guard let number = unsafe BN_secure_new() else { throw Self.outOfMemory }
        unsafe numbers.append(number)
        let isRead = unsafe secret.withBytes { bytes in
            unsafe BN_bin2bn(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count), number) != nil
        }
        guard isRead, unsafe OSSL_PARAM_BLD_push_BN(builder, store(name), number) == 1 else { throw Self.notANumber }
    }

    func push(_ name: String, text: String) throws(JOSEError) {
        let buffer = unsafe store(Array(text.utf8) + [0])
        guard unsafe OSSL_PARAM_BLD_push_utf8_string(builder, store(name), buffer.baseAddress, buffer.count - 1) == 1
        else {
            throw Self.outOfMemory
        }
    }

    func push(_ name: String, octets: [UInt8]) throws(JOSEError) {
        let buffer = unsafe store(octets)
        guard unsafe OSSL_PARAM_BLD_push_octet_string(builder, store(name), buffer.baseAddress, buffer.count) == 1
        else {
            throw Self.outOfMemory
        }
    }

    func key(_ type: String, isPrivate: Bool) throws(JOSEError) -> EVPKey {
        defer { clearCryptoErrors() }
        guard let parameters = unsafe OSSL_PARAM_BLD_to_param(builder) else { throw Self.outOfMemory }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil) else {
            throw JOSEError(.libcrypto, "libcrypto does not know \(type) keys")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var pointer: OpaquePointer?
        let selection = isPrivate ? remint_keypair() : remint_public_key()
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &pointer, selection, parameters) == 1, let pointer = unsafe pointer
        else { throw JOSEError(.invalidKey, "the JWK's members are not a key") }
        return unsafe EVPKey(owning: pointer)
    }

    private static let notANumber = JOSEError(.invalidKey, "the JWK holds a number libcrypto does not take")
    private static let outOfMemory = JOSEError(.libcrypto, "libcrypto is out of memory")

    /// The builder keeps the pointer to a parameter's name, too.
    private func store(_ name: String) -> UnsafePointer<CChar>? {
        unsafe store(Array(name.utf8) + [0]).baseAddress.map {
            unsafe UnsafePointer($0.assumingMemoryBound(to: CChar.self))
        }
    }

    private func store(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe buffer.copyBytes(from: bytes)
        unsafe stored.append(buffer)
        return unsafe buffer
    }
}
