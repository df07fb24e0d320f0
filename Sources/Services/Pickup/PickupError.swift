import Formats
import NIOCore
import Serving

/// The reason why the gateway cannot run.
public struct PickupError: Error, Sendable, CustomStringConvertible {
    /// The problem and its fix, in one line.
    public let description: String

    init(_ description: String) { self.description = description }

    /// Returns the error for `error`, which stopped the server that listens at the address under the configuration's
    /// `key`. Returns any error that does not concern the address as it is.
    static func listening(at host: String, _ port: Int, named key: String, _ error: any Error) -> any Error {
        guard let error = error as? IOError else { return error }
        let place = HostAndPort(host: host, port: port)
        return PickupError("the gateway cannot listen at \(place): \(error.listeningProblem(named: key))")
    }
}
