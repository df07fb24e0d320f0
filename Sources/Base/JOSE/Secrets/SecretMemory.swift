import COpenSSL
import Glibc
import Synchronization

/// The protection of the pages that hold secrets.
package enum SecretMemory {
    /// The number of times that the system refused to keep a secret's pages out of swap (`mlock`), since the process
    /// began. It mostly refuses more than RLIMIT_MEMLOCK allows.
    package static var refusedLocks: Int { refusals.load(ordering: .relaxed) }

    fileprivate static let refusals = Atomic(0)

    /// Forbids all accounts but root to trace this process, to read its memory through `/proc` and to have its core
    /// dumped.
    ///
    /// - Returns: whether the system forbade it.
    package static func forbidTracing() -> Bool { remint_forbid_tracing() == 1 }

    /// Provides memory for a secret that lives no longer than one call: the key of one message. It is overwritten when
    /// `body` returns.
    ///
    /// The memory is on the stack and not on pages of its own, which would cost more than the encryption; the content
    /// that such a key protects is in an ordinary array beside it.
    @unsafe static func withScratch<Result>(
        _ count: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Result
    ) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { scratch in
            defer { unsafe OPENSSL_cleanse(scratch.baseAddress, scratch.count) }
            return unsafe body(scratch)
        }
    }
}

/// Memory for one secret, and how it is given back.
@safe
struct SecretRegion {
    /// The requested bytes.
    let bytes: UnsafeMutableRawBufferPointer
    /// The pages `bytes` begin, in bytes; nil for memory of the ordinary heap.
    let mapped: Int?
}

/// The source of the secrets' memory. Tests have another source, and look at the memory that comes back.
struct SecretStorage: Sendable {
    /// A function that allocates memory for the given number of bytes.
    let allocate: @Sendable (Int) -> SecretRegion
    /// The function that gets the memory back after it was overwritten.
    let release: @Sendable (SecretRegion) -> Void

    /// Pages that hold one secret and nothing else. `mlock` and `munlock` apply to whole pages and do not count, so a
    /// secret that shared its page would be unlocked when its neighbor ends. The pages are left out of core dumps, and
    /// given back to the system with the secret.
    static let pages = SecretStorage(allocate: { map($0) }, release: { unmap($0) })

    private static func map(_ count: Int) -> SecretRegion {
        let page = max(Int(sysconf(Int32(_SC_PAGESIZE))), 4096)
        let (length, overflow) = max(count, 1).addingReportingOverflow(page - 1)
        precondition(!overflow, "a secret of more bytes than there is memory")
        let mapped = length / page * page
        let start = unsafe mmap(nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            SecretMemory.refusals.add(1, ordering: .relaxed)
            return unsafe SecretRegion(bytes: .allocate(byteCount: count, alignment: 16), mapped: nil)
        }
        if unsafe mlock(start, mapped) != 0 { SecretMemory.refusals.add(1, ordering: .relaxed) }
        _ = unsafe madvise(start, mapped, MADV_DONTDUMP)
        return unsafe SecretRegion(bytes: UnsafeMutableRawBufferPointer(start: start, count: count), mapped: mapped)
    }

    private static func unmap(_ region: SecretRegion) {
        guard let mapped = region.mapped, let start = unsafe region.bytes.baseAddress else {
            unsafe region.bytes.deallocate()
            return
        }
        // The lock ends with the mapping.
        _ = unsafe munmap(start, mapped)
    }
}

/// An array that holds a secret for a reader that accepts only arrays. It is overwritten in place when this object
/// ends, whatever other references to it exist: `withUnsafeMutableBytes` would overwrite a copy then and leave the
/// secret alone.
///
/// Readers of the array must be done with it by then; afterwards it is all zeros.
@safe
final class SecretArray {
    let bytes: [UInt8]

    init(copying secret: SecretBytes) { unsafe bytes = secret.withBytes { unsafe Array($0) } }

    deinit {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe OPENSSL_cleanse(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
        }
    }
}
