import Foundation
import Synchronization
import Testing

@_spi(Signing) @testable import JOSE

/// A place for secrets that notes what they leave behind.
private final class WatchedStorage: Sendable {
    private let state = Mutex((allocated: 0, left: [[UInt8]]()))

    /// The bytes left in each region when it was returned.
    var left: [[UInt8]] { state.withLock { $0.left } }
    /// Regions that were not given back.
    var open: Int { state.withLock { $0.allocated - $0.left.count } }

    var storage: SecretStorage {
        SecretStorage(
            allocate: { count in
                self.state.withLock { $0.allocated += 1 }
                let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
                bytes.initializeMemory(as: UInt8.self, repeating: 0x55)
                return SecretRegion(bytes: bytes, mapped: nil)
            },
            release: { region in
                self.state.withLock { $0.left.append(Array(region.bytes)) }
                region.bytes.deallocate()
            })
    }
}

@Suite("Secrets in memory") struct SecretMemoryTests {
    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    @Test func `the buffer a secret was written to is zeroed at once, and the secret's own at its end`() {
        let watched = WatchedStorage()
        var secret: SecretBytes? = SecretBytes(capacity: 9, in: watched.storage) { target in
            target.copyBytes(from: Array("hunter2!?".utf8))
            return 7
        }
        #expect(watched.left == [zeros(9)], "the scratch")
        #expect(watched.open == 1)
        #expect(secret?.withBytes { Array($0) } == Array("hunter2".utf8))
        secret = nil
        #expect(watched.left == [zeros(9), zeros(7)])
        #expect(watched.open == 0)
    }

    @Test func `the buffer written before an error is zeroed`() {
        let watched = WatchedStorage()
        #expect(throws: JOSEError.self) {
            try SecretBytes(capacity: 7, in: watched.storage) { target throws(JOSEError) -> Int in
                target.copyBytes(from: Array("hunter2".utf8))
                throw JOSEError(.libcrypto, "refused")
            }
        }
        #expect(watched.left == [zeros(7)])
        #expect(watched.open == 0)
    }

    @Test func `an array for the parser is overwritten in place, even if shared`() {
        var array: SecretArray? = SecretArray(copying: SecretBytes(copying: Array("hunter2-hunter2".utf8)))
        let shared = array?.bytes ?? []
        #expect(shared == Array("hunter2-hunter2".utf8))
        array = nil
        #expect(shared == zeros(15))
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 65_536]) func `a secret has pages of its own`(count: Int) {
        let first = SecretStorage.pages.allocate(count), second = SecretStorage.pages.allocate(count)
        defer { for region in [first, second] { SecretStorage.pages.release(region) } }
        #expect(first.bytes.count == count)
        #expect(first.mapped.map { $0 % 4096 } == 0)
        #expect(first.mapped.map { $0 >= max(count, 1) } == true)
        let start = UInt(bitPattern: first.bytes.baseAddress), other = UInt(bitPattern: second.bytes.baseAddress)
        #expect(start % 4096 == 0 && other % 4096 == 0 && start != other)
        #expect(first.bytes.allSatisfy { $0 == 0 })
    }

    /// In a process of its own: what other tests leave in memory is none of this one's.
    @Test(.timeLimit(.minutes(5)))
    func `nothing of what is decoded, encoded or imported is found in memory afterwards`()
        async
    {
        await #expect(processExitsWith: .success) {
            // A control first: what is looked for would be found.
            let held = SecretMemoryTests.secret.withBytes { Array($0) }
            guard try MemorySearch(SecretMemoryTests.hidden()).count() >= 1 else { exit(3) }
            MemorySearch.wipe(held)
            // And so would a part of the heap that was given back.
            try SecretMemoryTests.leak()
            guard try MemorySearch(SecretMemoryTests.hidden(as: .hex)).count() >= 1 else { exit(5) }
            let texts: [SecretEncoding] = [.base64, .base64url]
            let hidden = [SecretMemoryTests.hidden()] + texts.map { SecretMemoryTests.hidden(as: $0) }
            // Over and over, with something kept in between: not everything that was freed is soon another's.
            var kept: [[UInt8]] = []
            for round in 0..<40 {
                try SecretMemoryTests.use()
                kept.append([UInt8](repeating: 1, count: 100 * (1 + round % 20)))
            }
            // By the exit code, for an expectation would be this process's and not the test's.
            for needle in hidden where try MemorySearch(needle).count() > 0 { exit(4) }
            exit(kept.count == 40 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// Bytes that stand nowhere else: each is made when it is needed. All of them ASCII, so that they are text as well.
    private static var secret: SecretBytes {
        SecretBytes(capacity: 1200) { target in
            for index in target.indices { target[index] = UInt8(0x21 + (index &* 61 &+ index / 7 &* 13) % 90) }
            return target.count
        }
    }

    /// 400 bytes out of the middle, disguised. Long enough that no dump of registers holds them.
    private static func hidden(as encoding: SecretEncoding? = nil) -> [UInt8] {
        (encoding?.encode(secret) ?? secret).withBytes { bytes in (404..<804).map { bytes[$0] ^ MemorySearch.mask } }
    }

    /// Frees arrays that hold a secret's text: enough of them that the next allocations do not need all of their
    /// memory.
    @inline(never) private static func leak() throws {
        let text = SecretEncoding.hex.encode(secret)
        let texts = (0..<500).map { _ in text.withBytes { Array($0) } }
        try #require(texts.allSatisfy { $0.count == 2400 })
    }

    private static func use() throws {
        for encoding in SecretEncoding.allCases {
            let decoded = try encoding.decode(encoding.encode(secret))
            #expect(decoded.equals(secret))
            _ = try Signer(SigningKey(secret: decoded, algorithm: .hs256)).sign(Array("input".utf8))
        }
        let text = SecretBytes(#"{"kty":"oct","k":""#.utf8, followedBy: SecretEncoding.base64url.encode(secret))
        let broken = SecretBytes("".utf8, followedBy: text)
        #expect(throws: JOSEError.self) { try JWK.signingKey(from: broken, algorithm: .hs256) }
        let whole = text.withBytes { bytes in
            SecretBytes(capacity: bytes.count + 2) { target in
                target.copyMemory(from: bytes)
                target[bytes.count] = UInt8(ascii: "\"")
                target[bytes.count + 1] = UInt8(ascii: "}")
                return target.count
            }
        }
        let key = try JWK.signingKey(from: whole, algorithm: .hs256)
        #expect(key.secret?.equals(secret) == true)
    }
}

/// Looks for bytes in the memory of this process: every page of it that can be written.
struct MemorySearch {
    static let mask: UInt8 = 0x80
    private let hidden: [UInt8]

    /// - Parameter hidden: what is looked for, each byte combined with the mask, so that this is not found itself.
    init(_ hidden: [UInt8]) { self.hidden = hidden }

    /// Returns the number of places in memory that hold the bytes.
    func count() throws -> Int {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        // Read before anything else is made, and looked at piece by piece, each with the beginning of the next.
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        let piece = 1 << 20
        var buffer = [UInt8](repeating: 0, count: piece + hidden.count)
        var found = 0
        for line in maps.split(separator: "\n") where line.contains(" rw") {
            let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard range.count == 2 else { continue }
            var place = range[0]
            while place < range[1] {
                let wanted = min(buffer.count, Int(range[1] - place))
                let count = buffer.withUnsafeMutableBytes { pread(memory, $0.baseAddress, wanted, off_t(place)) }
                if count > 0 { found += matches(buffer[..<count]) }
                place += UInt64(piece)
            }
        }
        // What was found once is in the buffer and must not be found there again by another search.
        Self.wipe(buffer)
        return found
    }

    static func wipe(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memset(UnsafeMutableRawPointer(mutating: base), 0, bytes.count) }
        }
    }

    private func matches(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = hidden.first else { return 0 }
        return bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var found = 0
            var place = 0
            while place < bytes.count, let hit = memchr(base + place, Int32(first ^ Self.mask), bytes.count - place) {
                let start = base.distance(to: UnsafeRawPointer(hit))
                let isThere =
                    start + hidden.count <= bytes.count
                    && hidden.indices.allSatisfy { bytes[start + $0] == hidden[$0] ^ Self.mask }
                if isThere { found += 1 }
                place = start + 1
            }
            return found
        }
    }
}
