import AdapterKit
import Formats
import Yams

/// Reads an app's look-up from the app's section and its adapter's terms.
struct LookupReader {
    let source: ConfigurationSource
    let section: Section
    let written: WrittenLookup
    let adapter: any Adapter
    /// The adapter's settings that the app does not give.
    let unset: [String]

    private var diagnostics: Diagnostics { section.diagnostics }

    /// Returns the look-up of the app `app`; nil where it is off or has errors.
    func read(app: String) -> Configuration.Lookup? {
        guard written.mode != .off else { return nil }
        guard let terms = adapter.termsOfLookups else {
            diagnostics.error(
                section.value(of: WrittenLookup.mode),
                "\(section.path(of: WrittenLookup.mode)) must be off: \(adapter.vendor) has no look-up, or apps.\(app).settings lacks what it takes\(lacking); see the adapter's README.md"
            )
            return nil
        }
        if written.mode == .enrich, !terms.enriches {
            diagnostics.error(
                section.value(of: WrittenLookup.mode),
                "\(section.path(of: WrittenLookup.mode)) must be off or verify: \(adapter.vendor)'s answers add nothing to a token"
            )
        }
        let endpoint = endpoint(terms)
        let credentials = CredentialsReader(
            source: source, section: section, written: written, vendor: adapter.vendor
        ).read(terms.authorization)
        let authority = certificateAuthority(endpoint)
        let rates = rates(terms)
        guard let endpoint, let credentials else { return nil }
        let concurrency = written.concurrency
        let timeout = written.timeout ?? .seconds(terms.timeout)
        var hasher = Hasher()
        for part in [endpoint.text, "\(terms.authorization)", authority?.text ?? ""] { hasher.combine(part) }
        hasher.combine(credentials.credentials)
        hasher.combine(timeout)
        hasher.combine(concurrency)
        return Configuration.Lookup(
            mode: written.mode, account: app, url: endpoint.text, authorization: terms.authorization,
            credentials: credentials.credentials, certificateAuthority: authority?.file.path,
            timeout: timeout, patience: written.patience,
            unknownUser: written.unknownUser ?? terms.unknownUser, onFailure: written.onFailure,
            existsFor: written.existsFor, goneFor: written.goneFor,
            unknownFor: written.unknownFor, rates: rates, batch: terms.batch,
            concurrency: concurrency, files: [authority?.file, credentials.file].compactMap { $0 },
            endpointFingerprint: Fingerprint(hasher))
    }

    private var lacking: String { unset.isEmpty ? "" : " (not set: \(unset.joined(separator: ", ")))" }

    // MARK: Endpoint

    private func endpoint(_ terms: LookupTerms) -> EndpointURL? {
        let node = section.value(of: WrittenLookup.endpointKey)
        // A value that is no endpoint was reported already, except an empty one.
        guard node == nil || written.endpoint != nil else {
            if node?.scalar?.string.isEmpty == true {
                diagnostics.error(
                    node, "\(section.path(of: WrittenLookup.endpointKey)) is empty; give it a value or remove it")
            }
            return nil
        }
        guard let endpoint = written.endpoint ?? terms.endpoint.flatMap({ try? EndpointURL(parsing: $0) }) else {
            section.missing(
                WrittenLookup.endpointKey.name,
                "\(section.path(of: WrittenLookup.endpointKey)) is missing: each account of \(adapter.vendor) has its own; write its https URL"
            )
            return nil
        }
        if !endpoint.isEncrypted, !endpoint.isLoopback, !written.isInsecure {
            diagnostics.error(
                node ?? section.node,
                "\(section.path(of: WrittenLookup.endpointKey)) must be https beyond this machine; or write \(section.path(of: WrittenLookup.insecure)): true"
            )
        }
        if endpoint.isEncrypted, written.isInsecure {
            diagnostics.warning(
                section.value(of: WrittenLookup.insecure),
                "\(section.path(of: WrittenLookup.insecure)) has no use: the endpoint is https; remove it")
        }
        return endpoint
    }

    private func certificateAuthority(_ endpoint: EndpointURL?) -> (file: Configuration.Lookup.File, text: String)? {
        let setting = WrittenLookup.certificateAuthority
        guard let text = written.certificateAuthority, let node = section.value(of: setting) else { return nil }
        guard !text.isEmpty else {
            diagnostics.error(node, "\(section.path(of: setting)) is empty; give it a value or remove it")
            return nil
        }
        let path = diagnostics.resolve(text)
        guard let contents = section.text(ofFile: text, node, named: section.path(of: setting), source) else {
            return nil
        }
        guard contents.contains("-----BEGIN CERTIFICATE-----") else {
            diagnostics.error(
                node, "the file of \(section.path(of: setting)) holds no certificate in PEM (BEGIN CERTIFICATE)")
            return nil
        }
        if endpoint?.isEncrypted == false {
            diagnostics.warning(
                node, "\(section.path(of: setting)) has no use: the endpoint is plain http; remove one of them")
        }
        let file = Configuration.Lookup.File(path: path, content: .certificates, place: diagnostics.place(of: node))
        return (file, contents)
    }

    // MARK: Limits

    /// Returns the vendor's limits with the configured one, which lowers them. Only where the vendor allows some
    /// accounts more does it replace the lower limits, up to that.
    private func rates(_ terms: LookupTerms) -> [LookupTerms.Rate] {
        guard let rate = written.rate, terms.ceiling != nil || !terms.rates.contains(rate) else { return terms.rates }
        let slowest = terms.rates.min { $0.perSecond < $1.perSecond }
        if let limit = terms.ceiling ?? slowest, rate.perSecond > limit.perSecond {
            diagnostics.error(
                section.value(of: WrittenLookup.rate),
                "\(section.path(of: WrittenLookup.rate)) must be at most \(limit.text), which is what \(adapter.vendor) allows"
            )
        }
        let replaces = terms.ceiling != nil && slowest.map { rate.perSecond > $0.perSecond } == true
        let kept = replaces ? terms.rates.filter { $0.perSecond >= rate.perSecond } : terms.rates
        return kept.contains(rate) ? kept : kept + [rate]
    }
}

extension LookupTerms.Rate {
    fileprivate var perSecond: Double { Double(requests) / Double(seconds) }

    /// The value as the configuration writes it, where it can.
    fileprivate var text: String {
        switch seconds {
        case 1: "\(requests)/s"
        case 60: "\(requests)/m"
        default: "\(requests) in \(seconds)s"
        }
    }
}
