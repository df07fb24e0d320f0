/// A vendor's rules with its REST API, which the worker asks about users before it mints.
///
/// The worker sends the requests. The adapter states them as values and reads the answers.
public protocol LookupAdapter: Adapter {
    /// The terms on which the vendor's REST API answers requests; nil where the settings lack what the API needs.
    var lookupTerms: LookupTerms? { get }

    /// Returns the requests that confirm these users, and with `.enrich` return the facts that their tokens may add;
    /// `.none` where there is nothing to ask.
    func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup

    /// Returns the response's verdict on each of its `subjects`, in their order. The adapter is lenient where the
    /// vendor is inconsistent. It is strict where a mistake would take one user for another: an answer that names
    /// somebody else is `.mismatched`.
    func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict]
}

extension Adapter {
    /// The adapter's look-ups; nil for an adapter without any. Callers on the way of an event keep the value, because the
    /// conversion costs more than a call.
    package var lookups: (any LookupAdapter)? { self as? any LookupAdapter }

    /// The terms of the vendor's REST API; nil where there is no API, or the settings lack what the API needs.
    package var termsOfLookups: LookupTerms? { lookups?.lookupTerms }
}
