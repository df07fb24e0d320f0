package import AdapterKit
import Foundation
@_spi(Signing) import JOSE
import Keyring
import Pipeline

/// The rate of signing on this machine, measured: a third of a second with a key of the algorithm on every core.
package struct SigningEstimate {
    /// Signatures a second on all cores.
    package let perSecond: Double
    /// The number of cores.
    let cores: Int

    /// - Throws: `JOSEError` where no key can be made.
    package init(_ algorithm: Algorithm) async throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let key = try SigningKey.generate(algorithm)
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<cores { group.addTask { Self.count(key) } }
            return await group.reduce(0, +)
        }
        self.cores = cores
        perSecond = Double(counts) / Self.length
    }

    private static let length = 0.3

    private static func count(_ key: SigningKey) -> Int {
        guard let signer = try? Signer(key) else { return 0 }
        let input = [UInt8](repeating: 0x61, count: 200)
        let end = ContinuousClock.now + .seconds(length)
        var count = 0
        while .now < end {
            for _ in 0..<8 where (try? signer.sign(input)) != nil { count += 1 }
        }
        return count
    }
}
