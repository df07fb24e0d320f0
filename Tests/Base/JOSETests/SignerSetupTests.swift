import Foundation
import Testing

@testable @_spi(Signing) import JOSE

/// Tests that libcrypto gets a key's parameters with every signature, whatever else the threads have on their stacks.
@Suite struct SignerSetupTests {
    @Test(arguments: [Algorithm.hs256, .hs384, .hs512])
    func `an HMAC signer is set up every time, on all cores`(algorithm: Algorithm) async throws {
        let key = try SigningKey.generate(algorithm)
        let input = Array("header.payload".utf8)
        // No signer before these: the first ones of a process, all at the same moment, are the ones that count.
        let signatures = await withTaskGroup(of: Set<[UInt8]?>.self) { group in
            for _ in 0..<8 { group.addTask { Set((0..<1250).map { _ in try? Signer(key).sign(input) }) } }
            return await group.reduce(into: Set<[UInt8]?>()) { $0.formUnion($1) }
        }
        #expect(signatures == Set([try Signer(key).sign(input)]))
    }
}
