import COpenSSL

/// A cipher of libcrypto's that is kept for good: to look one up takes longer than to encrypt a token.
///
/// `@unchecked Sendable`: never changed and never freed, and libcrypto allows any number of threads to use one.
@safe
struct FetchedCipher: @unchecked Sendable {
    let pointer: OpaquePointer?

    init(_ name: String) { unsafe pointer = unsafe EVP_CIPHER_fetch(nil, name, nil) }
}

/// The encryption or decryption of one message. Owns its context, which libcrypto overwrites when it is freed.
@safe
struct CipherRun: ~Copyable {
    enum Direction: Int32 { case decrypt, encrypt }

    private let context: OpaquePointer

    /// - Returns: nil where libcrypto does not offer the cipher or has no memory.
    @unsafe init?(
        _ cipher: FetchedCipher, _ direction: Direction, key: UnsafeBufferPointer<UInt8>, iv: [UInt8]? = nil
    ) {
        guard let pointer = unsafe cipher.pointer, let context = unsafe EVP_CIPHER_CTX_new() else { return nil }
        // Key wrapping is refused without it, for its results are longer than their inputs.
        unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        guard
            unsafe key.count == Int(EVP_CIPHER_get_key_length(pointer))
                && iv.map({ unsafe $0.count == Int(EVP_CIPHER_get_iv_length(pointer)) }) ?? true
                && EVP_CipherInit_ex2(context, pointer, key.baseAddress, iv, direction.rawValue, nil) == 1
        else {
            unsafe EVP_CIPHER_CTX_free(context)
            return nil
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Authenticates `bytes` without encrypting them.
    func authenticate(_ bytes: [UInt8]) -> Bool {
        var done: Int32 = 0
        guard let count = Int32(exactly: bytes.count) else { return false }
        return unsafe EVP_CipherUpdate(context, nil, &done, bytes, count) == 1
    }

    /// Runs the whole of `input` through the cipher. A tag that was set is checked by it.
    ///
    /// - Returns: the number of bytes that `output` holds now; nil where libcrypto refused.
    @unsafe func run(
        _ input: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        guard let wanted = Int32(exactly: input.count) else { return nil }
        var count: Int32 = 0
        var rest: Int32 = 0
        // Without an input there is nothing but the tag, and libcrypto takes no null for it.
        if wanted > 0 {
            guard unsafe EVP_CipherUpdate(context, output.baseAddress, &count, input.baseAddress, wanted) == 1 else {
                return nil
            }
        }
        var block: (UInt64, UInt64) = (0, 0)
        let isFinished = unsafe withUnsafeMutableBytes(of: &block) { block in
            unsafe EVP_CipherFinal_ex(context, block.baseAddress?.assumingMemoryBound(to: UInt8.self), &rest) == 1
        }
        return isFinished && rest == 0 ? Int(count) : nil
    }

    /// Returns the tag of the encrypted text.
    func tag(bytes count: Int) -> [UInt8]? {
        var tag = [UInt8](repeating: 0, count: count)
        return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(count), &tag) == 1 ? tag : nil
    }

    /// States the tag that the end of the run has to find.
    func expect(tag: [UInt8]) -> Bool {
        var tag = tag
        return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
    }
}
