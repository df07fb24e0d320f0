import AdapterKit
import YAMLReading

/// Finds the apps that ask one endpoint with the same credentials. To the vendor they are one account with one limit,
/// so they share connections and limits, and must agree about them.
struct LookupAccounts {
    /// An app with its look-up as the file has it.
    struct Member {
        var app: Configuration.App
        let written: WrittenLookup
        /// The look-up's section of the file.
        let section: Section
    }

    private struct Identity: Hashable {
        let adapter: String
        let url: String
        let scheme: String?
        let credentials: LookupCredentials
    }

    private var firsts: [Identity: Member] = [:]
    /// Adapters may declare other limits for other settings; an account keeps to all of them.
    private var rates: [String: [LookupTerms.Rate]] = [:]

    /// Returns the apps of `members`, each look-up with its account.
    static func share(_ members: [Member]) -> [Configuration.App] {
        var accounts = LookupAccounts()
        let named = members.map { accounts.name($0) }
        return named.map { app in
            guard let account = app.lookup?.account, let rates = accounts.rates[account] else { return app }
            var app = app
            app.lookup?.rates = rates
            return app
        }
    }

    private mutating func name(_ member: Member) -> Configuration.App {
        var app = member.app
        guard let lookup = app.lookup, let identity = Self.identity(lookup, app) else { return app }
        let first = firsts[identity] ?? member
        firsts[identity] = first
        Self.compare(member, to: first)
        app.lookup?.account = first.app.name
        let known = rates[first.app.name, default: []]
        rates[first.app.name] = known + lookup.rates.filter { !known.contains($0) }
        return app
    }

    /// Returns the account's identity; nil where nothing is shared, because a minted token belongs to a user and not to
    /// an account.
    private static func identity(_ lookup: Configuration.Lookup, _ app: Configuration.App) -> Identity? {
        guard lookup.credentials != .none else { return nil }
        let scheme: String? = if case .key(let scheme) = lookup.authorization { scheme } else { nil }
        return Identity(
            adapter: app.adapter.name, url: lookup.url, scheme: scheme, credentials: lookup.credentials)
    }

    private static func compare(_ member: Member, to first: Member) {
        guard let own = member.app.lookup, let other = first.app.lookup else { return }
        let isSame = [
            (WrittenLookup.certificateAuthority, own.certificateAuthority == other.certificateAuthority),
            (WrittenLookup.timeout, own.timeout == other.timeout),
            (WrittenLookup.rate, member.written.rate == first.written.rate),
            (WrittenLookup.concurrency, own.concurrency == other.concurrency),
        ]
        let section = member.section
        for (setting, isSame) in isSame where !isSame {
            section.diagnostics.error(
                section.value(of: setting) ?? section.node,
                "\(section.path(of: setting)) differs from that of apps.\(first.app.name): both ask one endpoint with the same credentials; write the same in both"
            )
        }
    }
}
