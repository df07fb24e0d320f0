import Foundation
import NIOCore

/// The reason why the gateway cannot run.
public struct PickupError: Error, Sendable, CustomStringConvertible {
    /// The problem and its fix, in one line.
    public let description: String

    init(_ description: String) { self.description = description }

    /// Returns the error for `error`, with which a server ended that `key` of the configuration lets listen; any error
    /// that does not concern the address is returned as it is.
    static func listening(at host: String, _ port: Int, named key: String, _ error: any Error) -> any Error {
        guard let error = error as? IOError else { return error }
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let reason =
            switch error.errnoCode {
            case EADDRINUSE: "another process listens there; stop it, or name another port in \(key)"
            case EADDRNOTAVAIL: "this machine has no such address; name one of its own in \(key)"
            case EACCES, EPERM: "this account may not; name a port above 1023 in \(key)"
            default: "\(error.localizedDescription); name another address in \(key)"
            }
        return PickupError("the gateway cannot listen at \(place): \(reason)")
    }
}
