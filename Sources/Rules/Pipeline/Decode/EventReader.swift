import AdapterKit

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

    /// Replaces the apps and the size limit.
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
