package import AdapterKit

/// Reads records: their contents, and the tokens that they call for. The result depends on the record only.
struct EventReader: Sendable {
    private var decoder: EventDecoder
    private(set) var apps: AppDirectory
    /// The rings of the apps whose reports contain tokens: only their keys are looked up.
    private var provingRings: Set<String>
    /// The versions of those rings, as of the signer's `revision`.
    private var keys: [String: [RingKey]] = [:]
    private var revision: Int?

    init(_ apps: AppDirectory, maximumBytes: Int) {
        decoder = EventDecoder(maximumBytes: maximumBytes)
        self.apps = apps
        provingRings = Self.provingRings(of: apps)
    }

    mutating func replaceApps(with apps: AppDirectory, maximumBytes: Int) {
        self = EventReader(apps, maximumBytes: maximumBytes)
    }

    /// Begins a batch. Looks up the keys that may have signed reported tokens again, if the signer's revision shows
    /// that they may have changed.
    mutating func look(at signing: any SigningPort) {
        let revision = signing.keysRevision
        guard !provingRings.isEmpty, revision == nil || revision != self.revision || keys.isEmpty else { return }
        self.revision = revision
        for ring in provingRings { keys[ring] = signing.verificationKeys(of: ring) }
    }

    private static func provingRings(of apps: AppDirectory) -> Set<String> {
        Set(apps.all.filter(\.adapter.reportsFailedToken).map(\.keyRing))
    }

    /// Reads `records` on up to `cores` threads.
    func read(_ records: ArraySlice<InputRecord>, cores: Int, at now: UnixTime) async -> ParallelMap<
        Disposition<MintRequest>
    > {
        await ParallelMap(records.count, chunks: cores, with: { JSONReader() }) { place, json in
            read(records[records.startIndex + place], by: json, at: now)
        }
    }

    /// Decodes the event of `record`, routes it to its app, lets the adapter read it and applies the remedy.
    ///
    /// - Parameter json: the parser of the record's value. One for many records needs memory only once.
    func read(_ record: InputRecord, by json: JSONReader = JSONReader(), at now: UnixTime) -> Disposition<MintRequest> {
        if let batch = record.batch { return .ended(.failed(batch.rejection, .decode), of: nil) }
        let event: Event
        do throws(Rejection) { event = try decoder.decode(record, by: json) } catch {
            return .ended(.failed(error, .decode), of: nil)
        }
        let envelope = event.envelope
        guard let app = apps[envelope.app] else {
            return .ended(.failed(Self.unknownApp, .decode), of: ReadEvent(envelope: envelope))
        }
        guard !envelope.hasWaited || apps.isInput(envelope.topic) else {
            return .ended(.failed(Self.unknownOrigin, .admit), of: ReadEvent(envelope: envelope))
        }
        let reader = ReportReader(event, app, keys: keys, now: now)
        guard apps.accepts(app, from: envelope.topic, isReissue: reader.isReissue) else {
            let foreign = Rejection(.wrongTopic, "events of the app \(app.name) do not come from this topic")
            return .ended(.failed(foreign, .admit), of: ReadEvent(envelope: envelope))
        }
        return reader.read(event)
    }

    private static let unknownApp = Rejection(.unknownApp, "no app of that name is configured")
    private static let unknownOrigin = Rejection(
        .wrongTopic,
        "the record of a retry tier has no origin, or one that is no input: restore that topic in the configuration, then redrive with --code wrong_topic"
    )
}

/// The configured apps by name, and the topics that their events may come from.
struct AppDirectory: Sendable {
    private let apps: [String: App]
    /// The same apps if there are few: a comparison of few names is faster than a hash.
    private let few: [App]
    private let ownTopics: Set<String>
    let liveTopic: String
    let bulkTopic: String

    /// Creates a directory of `apps`.
    ///
    /// - Parameter reserved: more topics that belong to single apps, but to none of `apps`. Events of no other app may
    ///   come from them.
    init(_ apps: [App], liveTopic: String, bulkTopic: String, reserved: Set<String> = []) {
        self.apps = Dictionary(apps.map { ($0.name, $0) }) { first, _ in first }
        few = self.apps.count <= 4 ? Array(self.apps.values) : []
        ownTopics = apps.reduce(into: reserved) { $0.formUnion($1.topics) }
        self.liveTopic = liveTopic
        self.bulkTopic = bulkTopic
    }

    subscript(name: String) -> App? { few.isEmpty ? apps[name] : few.first { $0.name == name } }

    var all: some Collection<App> { apps.values }

    var names: Set<String> { Set(apps.keys) }

    /// Returns whether `topic` is an input topic. Every record of a retry tier must have its origin on one.
    func isInput(_ topic: String) -> Bool {
        topic == liveTopic || topic == bulkTopic || ownTopics.contains(topic)
    }

    /// Returns whether an event of `app` may come from `topic`.
    ///
    /// The broker's ACLs decide who may write to a topic, so topics keep producers apart. Events on one app's topic are
    /// never another app's. An app with its own topics accepts only operators' requests from the shared ones.
    func accepts(_ app: App, from topic: String, isReissue: Bool) -> Bool {
        if ownTopics.isEmpty || app.topics.contains(topic) { return true }
        guard !ownTopics.contains(topic) else { return false }
        return app.topics.isEmpty || isReissue && topic == bulkTopic
    }
}

/// The expected result of an event by its content alone, for an edge that answers before a worker does.
///
/// The forecast uses no keys. Only a worker knows the signer of a reported token, whether the app is suspended, and
/// whether a newer token answers the event.
package enum EventForecast: Sendable {
    /// A token for this subject, unless the worker decides otherwise.
    case token(subjectKey: [UInt8], challenge: String?)
    /// Nothing to do; the string is the reason.
    case nothing(String)
    case rejection(Rejection)
    /// Unknown: the result depends on the signer of the reported token.
    case open
}

/// A device's report that calls for a token, judged by its text alone.
package struct DeviceReport: Sendable, Equatable {
    package let subjectKey: [UInt8]
    package let eventID: String
    /// The time at which the report was produced, by its producer's clock; nil where the record has none.
    package let producedAt: UnixTime?
    /// The prefix of the reported token's hash; nil where the report holds none.
    package let failedToken: UInt64?

    package init(subjectKey: [UInt8], eventID: String, producedAt: UnixTime?, failedToken: UInt64? = nil) {
        self.subjectKey = subjectKey
        self.eventID = eventID
        self.producedAt = producedAt
        self.failedToken = failedToken
    }
}

package struct EventForecaster: Sendable {
    private let reader: EventReader

    /// Creates a forecaster for `apps`.
    package init(apps: [App], maximumBytes: Int, liveTopic: String, bulkTopic: String) {
        let directory = AppDirectory(apps, liveTopic: liveTopic, bulkTopic: bulkTopic)
        reader = EventReader(directory, maximumBytes: maximumBytes)
    }

    /// Returns the report in `record` if a worker would answer it with a token; nil for anything else, for a report that answers a
    /// challenge, and for one whose answer hangs on who signed the token in it.
    package func report(in record: InputRecord, at now: UnixTime) -> DeviceReport? {
        guard case .next(let request) = reader.read(record, at: now), request.blame == nil, !request.facts.isReissue,
            !request.facts.isChallenge
        else { return nil }
        return DeviceReport(
            subjectKey: request.subjectKey, eventID: request.event.envelope.id,
            producedAt: request.event.envelope.producedAt, failedToken: request.facts.failedToken)
    }

    /// Returns the expected result of the event in `record`.
    package func forecast(_ record: InputRecord, at now: UnixTime) -> EventForecast {
        switch reader.read(record, at: now) {
        case .next(let request) where request.blame == nil:
            .token(subjectKey: request.subjectKey, challenge: request.subject.challenge)
        case .ended(.skipped(let why), _): .nothing(why)
        case .ended(.failed(let rejection, _, _), _):
            switch rejection.code {
            case .unproven, .notFixableByToken: .open
            default: .rejection(rejection)
            }
        case .next, .ended, .follows, .waits: .open
        }
    }
}
