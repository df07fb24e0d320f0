import Foundation
import NIOCore
import Testing

@testable import Pickup

/// The reason why the gateway cannot listen, with what fixes it.
@Suite struct ListeningErrorTests {
    private struct Other: Error {}

    @Test(arguments: [
        (EADDRINUSE, "another process listens there; stop it, or name another port in pickup.listen"),
        (EADDRNOTAVAIL, "this machine has no such address; name one of its own in pickup.listen"),
        (EACCES, "this account may not; name a port above 1023 in pickup.listen"),
    ])
    func `an address that cannot be used is named with the edit that helps`(_ code: CInt, _ advice: String) {
        func text(_ host: String) -> String {
            let error = IOError(errnoCode: code, reason: "bind(descriptor:ptr:bytes:)")
            return "\(PickupError.listening(at: host, 8080, named: "pickup.listen", error))"
        }
        #expect(text("127.0.0.1") == "the gateway cannot listen at 127.0.0.1:8080: \(advice)")
        #expect(text("::1") == "the gateway cannot listen at [::1]:8080: \(advice)")
    }

    @Test func `another error is returned as it is`() {
        #expect(PickupError.listening(at: "a", 1, named: "pickup.listen", Other()) is Other)
    }
}
