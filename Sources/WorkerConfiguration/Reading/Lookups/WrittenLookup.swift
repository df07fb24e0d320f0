import AdapterKit
import Formats
import Yams

/// The values of `apps.*.lookup`, each checked by itself for its type and range, whether the mode uses it or not.
struct WrittenLookup {
    /// The section, for problems that concern several of its keys.
    let section: Section
    let mode: LookupMode
    let endpoint: EndpointURL?
    let isInsecure: Bool
    /// The keys that name credentials or files, which are looked into once they are used.
    let texts: [String: (text: String, node: Node)]
    let unknownUser: LookupTerms.UnknownUser?
    let onFailure: Configuration.Lookup.OnFailure?
    let timeout: Duration?
    let patience: Duration?
    let existsFor: Duration?
    let goneFor: Duration?
    let unknownFor: Duration?
    let rate: LookupTerms.Rate?
    let concurrency: Int?

    init(_ section: Section) {
        self.section = section
        mode = section.choice("mode", LookupMode.self)?.choice ?? .off
        endpoint = section.endpoint("endpoint")
        isInsecure = section.bool("insecure") ?? false
        var texts: [String: (text: String, node: Node)] = [:]
        for name in ["certificate_authority", "key", "key_file", "username", "password", "password_file"] {
            texts[name] = section.text(name)
        }
        self.texts = texts
        unknownUser = section.choice("unknown_user", LookupTerms.UnknownUser.self)?.choice
        onFailure = section.choice("on_failure", Configuration.Lookup.OnFailure.self)?.choice
        timeout = section.duration("timeout", in: Configuration.Lookup.timeoutRange)
        patience = section.duration("patience", in: Configuration.Lookup.patienceRange)
        let cache = section.section("cache")
        let believed = Configuration.Lookup.cacheRange
        existsFor = cache.duration("exists", in: believed)
        goneFor = cache.duration("gone", in: believed)
        unknownFor = cache.duration("unknown", in: believed)
        cache.finish()
        rate = section.rate("rate")
        concurrency = section.integer("concurrency", in: Configuration.Lookup.concurrencyRange)
        section.finish()
    }
}

extension Section {
    /// An endpoint; nil where it is absent or empty, which a variable of the environment may be until it is used.
    fileprivate func endpoint(_ name: String) -> EndpointURL? {
        guard let (text, node) = text(name), !text.isEmpty else { return nil }
        do throws(EndpointURL.Problem) {
            return try EndpointURL(parsing: text)
        } catch {
            diagnostics.error(node, "\(path(name)) \(error.message)")
            return nil
        }
    }

    /// Returns the rate in requests a second or a minute: `4/s`, `200/m`. It is nil if the key is absent, or after
    /// reporting an error.
    fileprivate func rate(_ name: String) -> LookupTerms.Rate? {
        guard let (text, node) = text(name) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let seconds = ["/s": 1, "/m": 60][text.dropFirst(digits.count)]
        guard let seconds, let requests = Int(digits), (1...1_000_000).contains(requests) else {
            diagnostics.error(node, "\(path(name)) must be requests a second or a minute, such as 4/s or 200/m")
            return nil
        }
        return LookupTerms.Rate(requests, perSeconds: seconds)
    }
}
