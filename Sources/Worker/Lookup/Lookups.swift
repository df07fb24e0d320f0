import AdapterKit
import JOSE
import Logging
import Pipeline
import WorkerConfiguration

/// The look-ups of a configuration: what the pipeline goes by, and the client that asks.
struct Lookups {
    /// Nil where no app asks anything.
    let client: LookupClient?

    /// - Throws: `WorkerError` where an endpoint cannot be used.
    init(
        _ configuration: Configuration, signer: any SigningPort, logger: Logger,
        now: @escaping @Sendable () -> UnixTime
    ) throws(WorkerError) {
        let endpoints = Self.lookups(configuration).map { LookupEndpoint($0) }
        client = endpoints.isEmpty ? nil : try LookupClient(endpoints, signer: signer, logger: logger, now: now)
    }

    /// The accounts, by which limits are kept.
    static func accounts(_ configuration: Configuration) -> [LookupAccount] {
        lookups(configuration).map { lookup in
            LookupAccount(
                name: lookup.account, rates: lookup.rates, batch: lookup.batch, concurrency: lookup.concurrency,
                usesMintedTokens: lookup.authorization == .mintedToken)
        }
    }

    /// One look-up for each account: those that share one agree in all that is the account's.
    private static func lookups(_ configuration: Configuration) -> [Configuration.Lookup] {
        var accounts: Set<String> = []
        return configuration.apps.compactMap(\.lookup).filter { accounts.insert($0.account).inserted }
    }
}

extension AppLookup {
    /// What `apps.*.lookup` says.
    init(_ lookup: Configuration.Lookup) {
        self.init(
            account: lookup.account, mode: lookup.mode, unknownUser: lookup.unknownUser,
            onFailure: lookup.onFailure == .mint ? .mint : .retry, patience: lookup.patience,
            lifetimes: Lifetimes(exists: lookup.existsFor, gone: lookup.goneFor, unknown: lookup.unknownFor))
    }
}

extension LookupEndpoint {
    /// Where and with what the requests of an account go.
    init(_ lookup: Configuration.Lookup) {
        let credentials: Credentials =
            switch lookup.credentials {
            case .none: .none
            case .key(let key): .key(SecretBytes(copying: key.utf8))
            case .basic(let username, let password):
                .basic(user: username, password: SecretBytes(copying: password.utf8))
            }
        self.init(
            account: lookup.account, url: lookup.url, authorization: lookup.authorization, credentials: credentials,
            timeout: lookup.timeout, certificateAuthority: lookup.certificateAuthority, concurrency: lookup.concurrency)
    }
}
