import Foundation
package import NIOCore

extension IOError {
    /// Returns the reason why a server cannot listen, and the fix, where `key` of the configuration names the address.
    package func listeningProblem(named key: String) -> String {
        switch errnoCode {
        case EADDRINUSE: "another process listens there; stop it, or name another port in \(key)"
        case EADDRNOTAVAIL: "this machine has no such address; name one of its own in \(key)"
        case EACCES, EPERM: "this account may not; name a port above 1023 in \(key)"
        default: "\(localizedDescription); name another address in \(key)"
        }
    }
}
