import COpenSSL

/// A digest that is fetched once and run on one context, to the same place.
///
/// Not `Sendable`: one per thread.
@safe
final class Hasher {
    let digest: OpaquePointer
    /// The digest that was made last.
    let output: UnsafeMutableBufferPointer<UInt8>
    private let context: OpaquePointer

    init(_ name: String) throws(JOSEError) {
        guard let digest = unsafe EVP_MD_fetch(nil, name, nil) else {
            throw JOSEError(.libcrypto, "libcrypto does not offer \(name)")
        }
        guard let context = unsafe EVP_MD_CTX_new() else {
            unsafe EVP_MD_free(digest)
            throw JOSEError(.libcrypto, "libcrypto is out of memory")
        }
        unsafe self.digest = unsafe digest
        unsafe self.context = unsafe context
        unsafe output = UnsafeMutableBufferPointer.allocate(capacity: Int(EVP_MD_get_size(digest)))
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(digest)
        unsafe output.deallocate()
    }

    /// Writes the digest of `input` to `output`.
    ///
    /// - Returns: false where libcrypto could not.
    func hash(_ input: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe EVP_DigestInit_ex(context, digest, nil) == 1
            && EVP_DigestUpdate(context, input.baseAddress, input.count) == 1
            && EVP_DigestFinal_ex(context, output.baseAddress, nil) == 1
    }
}
