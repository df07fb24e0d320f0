import COpenSSL

/// libcrypto's random numbers, fetched a page at a time: a call into the kernel for each would cost as much as an HMAC.
///
/// For ids and jitter; libcrypto itself makes keys. The rest of the buffer is in this process's memory.
public struct BufferedRandom: RandomNumberGenerator, Sendable {
    private var words: [UInt64] = Array(repeating: 0, count: 512)
    private var position = 512

    /// A generator whose buffer is filled when the first number is asked for.
    public init() {}

    /// Returns 64 random bits of libcrypto.
    public mutating func next() -> UInt64 {
        if position == words.count { refill() }
        defer { position += 1 }
        return words[position]
    }

    private mutating func refill() {
        position = 0
        let isFilled = unsafe words.withUnsafeMutableBytes { buffer in
            unsafe RAND_bytes(buffer.baseAddress, Int32(buffer.count)) == 1
        }
        guard !isFilled else { return }
        // libcrypto has no entropy; the system's generator waits for it.
        var system = SystemRandomNumberGenerator()
        for index in words.indices { words[index] = system.next() }
    }
}
