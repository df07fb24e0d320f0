import COpenSSL

/// Bytes that must not outlive their use: a shared secret, a PEM text, a passphrase.
///
/// They live in one allocation that is overwritten before it is freed, are never copied by value and never printed.
///
/// `@unchecked Sendable`: the buffer is written by the initialiser and only read afterwards, until the last reference is gone
/// and `deinit` overwrites it.
@safe
public final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let buffer: UnsafeMutableRawBufferPointer

    /// How many bytes there are.
    public var count: Int { unsafe buffer.count }

    /// A secret of at most `capacity` bytes that `initialize` writes; it returns how many.
    public init<Failure: Error>(
        capacity: Int, initializingWith initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, 1), alignment: 16)
        defer {
            unsafe OPENSSL_cleanse(scratch.baseAddress, scratch.count)
            unsafe scratch.deallocate()
        }
        let count = unsafe min(max(try initialize(scratch), 0), capacity)
        unsafe buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: scratch[..<count]))
    }

    /// A secret that holds a copy of `bytes`. The caller's own copy is the caller's to overwrite.
    public convenience init(copying bytes: some Collection<UInt8>) {
        unsafe self.init(capacity: bytes.count) { target in
            unsafe target.copyBytes(from: bytes)
            return bytes.count
        }
    }

    deinit {
        unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
        unsafe buffer.deallocate()
    }

    /// Reads the bytes; they must not leave the closure.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(buffer))
    }

    /// Whether both hold the same bytes, in a time that depends on the length alone.
    public func equals(_ other: SecretBytes) -> Bool {
        unsafe count == other.count && CRYPTO_memcmp(buffer.baseAddress, other.buffer.baseAddress, count) == 0
    }

    /// Says how many bytes there are, never which.
    public var description: String { "SecretBytes(\(count) bytes)" }

    /// Keeps `dump` and debuggers' summaries as silent as `description`.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    /// Overwrites an array that held a secret.
    public static func cleanse(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    }

    /// The same without the line end an editor leaves at the end of a file.
    public func trimmingLineEnd() -> SecretBytes {
        var upper = count
        while upper > 0, unsafe buffer[upper - 1] == 0x0A || buffer[upper - 1] == 0x0D { upper -= 1 }
        return unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: buffer[..<upper]))
    }

    func withoutSurroundingWhiteSpace() -> SecretBytes {
        func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var lower = 0
        var upper = count
        while lower < upper, unsafe isWhiteSpace(buffer[lower]) { lower += 1 }
        while upper > lower, unsafe isWhiteSpace(buffer[upper - 1]) { upper -= 1 }
        return unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: buffer[lower..<upper]))
    }

    /// Collects a secret byte by byte.
    final class Builder {
        private var bytes: [UInt8] = []
        init(capacity: Int) { bytes.reserveCapacity(capacity) }
        deinit { SecretBytes.cleanse(&bytes) }
        func append(_ byte: UInt8) { bytes.append(byte) }
        func finish() -> SecretBytes { SecretBytes(copying: bytes) }
    }
}
