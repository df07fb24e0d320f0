package import AdapterKit
import HTTPTransport
package import JOSE
package import Keyring
package import OTLP
package import Pipeline
package import Spans
package import VendorLookup
package import WorkerConfiguration

// Turns the file's words into those of the core and of the clients: the one place that knows both.

extension Configuration {
    /// Returns the topic of a destination. A tier beyond the last is the last.
    package func topic(for destination: OutputRecord.Destination) -> String {
        switch destination {
        case .tokens: topics.tokens
        case .deadLetters: topics.deadLetters
        case .retries(let tier): retryTopics.indices.contains(tier) ? retryTopics[tier] : retryTopics.last ?? ""
        }
    }

    package func topics(of lane: Lane) -> [String] {
        switch lane {
        case .live: [topics.invalidations] + appTopics
        case .retries: retryTopics
        case .bulk: [topics.invalidationsBulk]
        }
    }

    package var retryPolicy: RetryPolicy {
        RetryPolicy(
            tiers: worker.retries.tiers.map { RetryPolicy.Tier(name: $0.name, delay: $0.delay) },
            maxAttempts: worker.retries.maxAttempts, deadline: worker.retries.deadline)
    }

    package func admissionRules(worker name: String) -> AdmissionRules {
        AdmissionRules(
            subjects: worker.admission.subjects, coalescing: worker.admission.coalescing,
            usersToSuspend: worker.admission.suspendAfter, shareToSuspend: worker.admission.suspendShare,
            suspensionWindow: worker.admission.suspendWindow, minimumAge: worker.admission.suspendMinimumAge,
            probeWait: worker.admission.probeWait, worker: name)
    }

    package var pipelineApps: [Pipeline.App] { apps.map { app in Pipeline.App(app) } }

    package var ringPlaces: [RingReader.Place] { keys.map { RingReader.Place(name: $0.name, path: $0.path) } }

    /// The rings that each signer is asked for, by its socket, with the algorithms that the apps of each ring use.
    package var signers: [String: [String: Set<Algorithm>]] {
        keys.reduce(into: [:]) { signers, key in
            guard let socket = key.signer else { return }
            signers[socket, default: [:]][key.name] = Set(apps.filter { $0.key == key.name }.map(\.adapter.algorithm))
        }
    }
}

extension Pipeline.App {
    convenience init(_ app: Configuration.App) {
        self.init(
            name: app.name, adapter: app.adapter, keyRing: app.key, lifetime: app.lifetime,
            missingUser: app.missingUser, identity: app.identity, proof: app.proof,
            topics: Set(app.topics), spread: app.spread, lookup: app.lookup.map(AppLookup.init),
            seal: app.seal, publication: app.publication)
    }
}

extension Configuration {
    /// Returns the pipeline of the worker `name`.
    ///
    /// - Parameters:
    ///   - cores: The number of processors that read and finish a batch's events.
    ///   - spans: The receiver of the spans of followed events; nil to follow none.
    ///   - random: The source of random ids and jitter.
    package func processor(
        signing: any SigningPort, worker name: String, cores: Int, spans: (any SpanPort)? = nil,
        random: any RandomNumberGenerator & Sendable = BufferedRandom(), now: @escaping @Sendable () -> UnixTime
    ) -> BatchProcessor {
        BatchProcessor(
            apps: pipelineApps, signing: signing, maximumEventBytes: worker.maximumEventBytes,
            liveTopic: topics.invalidations, bulkTopic: topics.invalidationsBulk,
            admission: admissionRules(worker: name), retries: retryPolicy,
            accounts: VendorLookups.accounts(self), rememberedAnswers: worker.lookups.cache, cores: cores, spans: spans,
            random: random, now: now)
    }
}

extension Collector {
    /// Makes the collector of `telemetry.otlp`.
    ///
    /// - Throws: `WorkerError` if the endpoint or its certificate authorities cannot be used.
    package init(_ collector: Configuration.Collector) throws(WorkerError) {
        let problem: String
        do throws(EndpointURL.Problem) {
            let url = try EndpointURL(parsing: collector.endpoint)
            do throws(EndpointError) {
                try self.init(
                    url, headers: collector.headers.map { ($0.name, $0.value) },
                    certificateAuthority: collector.certificateAuthority, timeout: collector.timeout)
                return
            } catch { problem = error.description }
        } catch { problem = "endpoint \(error.message)" }
        throw WorkerError("telemetry.otlp: \(problem)")
    }
}

/// The look-ups of a configuration: the pipeline's accounts and the client's endpoints.
package enum VendorLookups {
    /// Returns the accounts, which limits apply to.
    package static func accounts(_ configuration: Configuration) -> [LookupAccount] {
        lookups(configuration).map { lookup in
            LookupAccount(
                name: lookup.account, rates: lookup.rates, batch: lookup.batch, concurrency: lookup.concurrency,
                usesMintedTokens: lookup.authorization == .mintedToken)
        }
    }

    /// Returns the accounts' endpoints, in the order of the apps.
    package static func endpoints(_ configuration: Configuration) -> [LookupEndpoint] {
        lookups(configuration).map { LookupEndpoint($0) }
    }

    /// The accounts, each with the fingerprint of its endpoint and its credentials.
    package static func fingerprints(
        _ configuration: Configuration
    ) -> [(name: String, fingerprint: Fingerprint)] {
        lookups(configuration).map { ($0.account, $0.endpointFingerprint) }
    }

    /// Returns one look-up for each account: look-ups that share an account agree in everything that belongs to it.
    private static func lookups(_ configuration: Configuration) -> [Configuration.Lookup] {
        var accounts: Set<String> = []
        return configuration.apps.compactMap(\.lookup).filter { accounts.insert($0.account).inserted }
    }
}

extension AppLookup {
    /// Makes an app's look-up rules of `apps.*.lookup`.
    init(_ lookup: Configuration.Lookup) {
        self.init(
            account: lookup.account, mode: lookup.mode, unknownUser: lookup.unknownUser,
            onFailure: lookup.onFailure == .mint ? .mint : .retry, patience: lookup.patience,
            lifetimes: Lifetimes(exists: lookup.existsFor, gone: lookup.goneFor, unknown: lookup.unknownFor))
    }
}

extension LookupEndpoint {
    /// Makes the endpoint of an account's requests, with their credentials.
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

/// The reason why a worker cannot run.
public struct WorkerError: Error, Sendable, CustomStringConvertible {
    /// The problem and its fix, in one line.
    public let description: String

    package init(_ description: String) { self.description = description }
}
