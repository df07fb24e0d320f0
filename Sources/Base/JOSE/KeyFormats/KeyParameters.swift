import COpenSSL

/// Collects numbers for `EVP_PKEY_fromdata`; secret ones are cleansed with it.
@safe
final class KeyParameters {
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

    /// Stores a parameter's name, because the builder keeps the pointer to it too.
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
