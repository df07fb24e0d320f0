public import HTTPTransport

/// The accounts that a client will ask, each checked before: a problem with one is known while the previous accounts
/// are still in use.
public struct LookupAccounts: Sendable {
    /// The new accounts.
    let opened: [String: LookupClient.OpenAccount]
    /// The unchanged accounts: their previous names by their new ones.
    let kept: [String: String]

    /// - Parameters:
    ///   - endpoints: the accounts, each with a name of its own.
    ///   - kept: the unchanged accounts: their previous names by their new ones.
    /// - Throws: `EndpointError` where an endpoint cannot be used; it names the account and never a credential.
    public init(_ endpoints: [LookupEndpoint], keeping kept: [String: String] = [:]) throws(EndpointError) {
        var opened: [String: LookupClient.OpenAccount] = [:]
        var names: Set<String> = []
        for endpoint in endpoints {
            guard names.insert(endpoint.account).inserted else {
                throw EndpointError("look-ups of \(endpoint.account): there are two accounts of that name")
            }
            guard kept[endpoint.account] == nil else { continue }
            opened[endpoint.account] = LookupClient.OpenAccount(try LookupDestination(endpoint))
        }
        self.opened = opened
        self.kept = kept
    }
}
