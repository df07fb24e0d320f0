public import HTTPTransport

/// The accounts that a client asks from some moment on, each looked at before: what can be wrong with one is known while the ones
/// before are still asked.
public struct LookupAccounts: Sendable {
    /// The new ones.
    let lines: [String: LookupClient.Line]
    /// Those that stay as they are, by their names, with what they were called before.
    let kept: [String: String]

    /// - Parameters:
    ///   - endpoints: the accounts, each with a name of its own.
    ///   - kept: those that stay as they are, by their names, with what they were called before.
    /// - Throws: `EndpointError` where an endpoint cannot be used; it names the account and never a credential.
    public init(_ endpoints: [LookupEndpoint], keeping kept: [String: String] = [:]) throws(EndpointError) {
        var lines: [String: LookupClient.Line] = [:]
        var names: Set<String> = []
        for endpoint in endpoints {
            guard names.insert(endpoint.account).inserted else {
                throw EndpointError("look-ups of \(endpoint.account): there are two accounts of that name")
            }
            guard kept[endpoint.account] == nil else { continue }
            lines[endpoint.account] = LookupClient.Line(try LookupDestination(endpoint))
        }
        self.lines = lines
        self.kept = kept
    }
}
