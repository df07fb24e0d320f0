import AdapterKit
import Kafka
import Pipeline
import WorkerConfiguration

extension InputRecord {
    /// A consumed record as the pipeline takes it.
    convenience init(_ record: ConsumedRecord, lane: Lane, tier: Int?) {
        self.init(
            origin: record.position, timestamp: record.timestamp.map { UnixTime(milliseconds: $0) }, body: record.body,
            lane: lane, tier: tier)
    }
}

extension ProducerRecord {
    /// A record of the pipeline's on its way to its topic.
    init(_ record: OutputRecord, _ configuration: Configuration) {
        self.init(topic: configuration.topic(for: record.destination), body: record.body)
    }
}

extension Configuration {
    /// The topic of a destination. A tier beyond the last is the last.
    func topic(for destination: OutputRecord.Destination) -> String {
        switch destination {
        case .tokens: topics.tokens
        case .deadLetters: topics.deadLetters
        case .retries(let tier): retryTopics.indices.contains(tier) ? retryTopics[tier] : retryTopics.last ?? ""
        }
    }

    /// The topics of a lane.
    func topics(of lane: Lane) -> [String] {
        switch lane {
        case .live: [topics.invalidations] + appTopics
        case .retries: retryTopics
        case .bulk: [topics.invalidationsBulk]
        }
    }

    /// The retry policy the pipeline follows.
    var retryPolicy: RetryPolicy {
        RetryPolicy(
            tiers: worker.retries.tiers.map { RetryPolicy.Tier(name: $0.name, delay: $0.delay) },
            maxAttempts: worker.retries.maxAttempts, deadline: worker.retries.deadline)
    }

    /// The rules of admission of the worker called `worker`.
    func admissionRules(worker name: String) -> AdmissionRules {
        AdmissionRules(
            subjects: worker.admission.subjects, coalescing: worker.admission.coalesce,
            usersToSuspend: worker.admission.suspendAfter, shareToSuspend: worker.admission.suspendShare,
            suspensionWindow: worker.admission.suspendWindow, probeWait: worker.admission.probeWait, worker: name)
    }
}

extension App {
    /// A configured app as the pipeline takes it.
    convenience init(_ app: Configuration.App) {
        self.init(
            name: app.name, adapter: app.adapter, keyRing: app.key, lifetime: app.lifetime,
            missingUser: app.missingUser, identity: app.identity, proof: app.proof,
            topics: Set(app.topics), spread: app.spread, lookup: app.lookup.map(AppLookup.init))
    }
}
