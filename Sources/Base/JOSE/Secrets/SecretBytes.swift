import COpenSSL

/// Bytes that must not outlive their use: a shared secret, a PEM text, a passphrase.
///
/// They live on pages of their own that are kept out of swap and core dumps where the system allows it (`SecretMemory`), are
/// overwritten before those are given back, never copied by value and never printed.
///
/// `@unchecked Sendable`: the region is written by the initializer and only read afterwards, until the last reference
/// is gone and `deinit` overwrites it.
@safe
public final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let region: SecretRegion
    private let storage: SecretStorage
    private var buffer: UnsafeMutableRawBufferPointer { unsafe region.bytes }

    /// The number of bytes.
    public var count: Int { unsafe buffer.count }

    /// A secret of at most `capacity` bytes that `initialize` writes; it returns how many.
    public convenience init<Failure: Error>(
        capacity: Int, initializingWith initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        try unsafe self.init(capacity: capacity, in: .pages, initializingWith: initialize)
    }

    init<Failure: Error>(
        capacity: Int, in storage: SecretStorage,
        initializingWith initialize: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let scratch = storage.allocate(max(capacity, 1))
        defer {
            unsafe OPENSSL_cleanse(scratch.bytes.baseAddress, scratch.bytes.count)
            storage.release(scratch)
        }
        let count = unsafe min(max(try initialize(scratch.bytes), 0), capacity)
        region = storage.allocate(count)
        self.storage = storage
        unsafe region.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: scratch.bytes[..<count]))
    }

    /// A secret that holds a copy of `bytes`. The caller's own copy is the caller's to overwrite.
    public convenience init(copying bytes: some Collection<UInt8>) {
        unsafe self.init(capacity: bytes.count) { target in
            unsafe target.copyBytes(from: bytes)
            return bytes.count
        }
    }

    /// A secret that holds `prefix`, which need not be one, and behind it a copy of `secret`.
    public convenience init(_ prefix: some Collection<UInt8>, followedBy secret: SecretBytes) {
        let start = prefix.count
        unsafe self.init(capacity: start + secret.count) { target in
            unsafe target.copyBytes(from: prefix)
            unsafe secret.withBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: bytes)
            }
            return start + secret.count
        }
    }

    deinit {
        unsafe OPENSSL_cleanse(buffer.baseAddress, buffer.count)
        storage.release(region)
    }

    /// Reads the bytes; they must not leave the closure.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(buffer))
    }

    /// Returns whether both contain the same bytes, in a time that depends on the length alone.
    public func equals(_ other: SecretBytes) -> Bool {
        unsafe count == other.count && CRYPTO_memcmp(buffer.baseAddress, other.buffer.baseAddress, count) == 0
    }

    /// Names the number of bytes, never the bytes.
    public var description: String { "SecretBytes(\(count.of("byte")))" }

    /// An empty mirror, so that `dump` and debuggers' summaries reveal no more than `description`.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    /// Returns the same bytes without the line end that an editor leaves at the end of a file.
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
}
