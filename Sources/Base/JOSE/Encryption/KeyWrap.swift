/// AES key wrap with a key of 256 bits (RFC 3394; RFC 7518, section 4.4).
enum KeyWrap {
    static let keyBytes = 32
    /// The bytes that wrapping adds.
    static let overhead = 8

    private static let cipher = FetchedCipher("AES-256-WRAP")

    /// `key` under `wrappingKey`; nil where libcrypto could not.
    @unsafe static func wrap(
        _ key: UnsafeBufferPointer<UInt8>, under wrappingKey: UnsafeBufferPointer<UInt8>
    ) -> [UInt8]? {
        guard let run = unsafe CipherRun(cipher, .encrypt, key: wrappingKey) else { return nil }
        let wrapped = unsafe [UInt8](unsafeUninitializedCapacity: key.count + overhead) { output, count in
            count = unsafe run.run(key, to: output) ?? 0
        }
        return wrapped.count == key.count + overhead ? wrapped : nil
    }

    /// Writes the key that `wrapped` holds to `key`, which is as wide as it.
    ///
    /// - Returns: false where it was wrapped under another key, or changed.
    @unsafe static func unwrap(
        _ wrapped: [UInt8], under wrappingKey: UnsafeBufferPointer<UInt8>, to key: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        guard wrapped.count == key.count + overhead,
            let run = unsafe CipherRun(cipher, .decrypt, key: wrappingKey)
        else { return false }
        return unsafe wrapped.withUnsafeBufferPointer { unsafe run.run($0, to: key) } == key.count
    }
}
