import Foundation
import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

@Suite("Keys of messages in memory") struct EncryptionMemoryTests {
    /// In a process of its own: what other tests leave in memory is none of this one's.
    @Test(.timeLimit(.minutes(5)))
    func `neither the shared secret nor a key of a message is found in memory once it is opened`() async {
        await #expect(processExitsWith: .success) {
            let vectors = try EncryptionVector.offered()
            let disguised = try vectors.flatMap { $0.disguised ?? [] }.map { try Base64.url.decode(text: $0) }
            guard disguised.count == 4 else { exit(3) }
            // A control first: what is looked for would be found.
            let held = disguised[0].map { $0 ^ MemorySearch.mask }
            guard try MemorySearch(disguised[0]).count() >= 1 else { exit(4) }
            MemorySearch.wipe(held)
            // Over and over, with something kept in between: not everything that was freed is soon another's.
            var kept: [[UInt8]] = []
            for round in 0..<20 {
                for vector in vectors {
                    let plaintext = try vector.decryptionKey.open(text: vector.token ?? "")
                    guard plaintext == vector.plaintext else { exit(5) }
                    kept.append([UInt8](repeating: 1, count: 100 * (1 + round)))
                }
            }
            // By the exit code, for an expectation would be this process's and not the test's.
            for hidden in disguised where try MemorySearch(hidden).count() > 0 { exit(6) }
            exit(kept.count == 40 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// The search above comes too late for a stack, most of which is soon another call's.
    @Test func `the scratch memory of a message's key is overwritten at once`() throws {
        let memory = try StackMemory()
        // Twice each: with the first call the linker looks for functions, and needs some of the same stack.
        let plain = (0..<2).map { _ in
            memory.remains { write in withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024, write) }
        }
        #expect(plain[1] > 256, "a control: \(plain) bytes")
        let scratch = (0..<2).map { _ in memory.remains { write in SecretMemory.withScratch(1024, write) } }
        #expect(scratch[1] == 0, "\(scratch) bytes")
    }
}

/// This process's memory, read where no pointer may point any more: through the system.
private final class StackMemory {
    private static let mark: UInt8 = 0xA7
    private let memory: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)

    init() throws {
        memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
    }

    deinit {
        close(memory)
        buffer.deallocate()
    }

    /// Returns the number of 1024 marks, written into the memory that `lend` lends, that are still there afterwards in runs
    /// of at least eight.
    func remains(_ lend: ((UnsafeMutableBufferPointer<UInt8>) -> Void) -> Void) -> Int {
        var place: UInt = 0
        lend { lent in
            lent.update(repeating: Self.mark)
            place = UInt(bitPattern: lent.baseAddress)
        }
        let count = pread(memory, buffer.baseAddress, buffer.count, off_t(place))
        // One byte may be another value's, such as a return address that the compiler placed there; eight in a row are not.
        var (run, found) = (0, 0)
        for byte in buffer.prefix(max(count, 0)) {
            run = byte == Self.mark ? run + 1 : 0
            if run >= 8 { found += 1 }
        }
        return found
    }
}
