import AdapterKit

/// The configured apps by name, and which topics their events may come from.
struct AppDirectory: Sendable {
    private let apps: [String: App]
    /// The same where they are few: their names are compared sooner than hashed.
    private let few: [App]
    /// The topics that belong to single apps.
    private let ownTopics: Set<String>
    /// The topic that producers share.
    let liveTopic: String
    /// Where operators' jobs write, for every app.
    let bulkTopic: String

    /// - Parameter reserved: further topics that belong to single apps, though to none of these: what still arrives there is
    ///   nobody else's.
    init(_ apps: [App], liveTopic: String, bulkTopic: String, reserved: Set<String> = []) {
        self.apps = Dictionary(apps.map { ($0.name, $0) }) { first, _ in first }
        few = self.apps.count <= 4 ? Array(self.apps.values) : []
        ownTopics = apps.reduce(into: reserved) { $0.formUnion($1.topics) }
        self.liveTopic = liveTopic
        self.bulkTopic = bulkTopic
    }

    subscript(name: String) -> App? { few.isEmpty ? apps[name] : few.first { $0.name == name } }

    /// All of them.
    var all: some Collection<App> { apps.values }

    /// Their names.
    var names: Set<String> { Set(apps.keys) }

    /// Whether events come from `topic` at all: a record of a retry tier must not have begun anywhere else.
    func isInput(_ topic: String) -> Bool {
        topic == liveTopic || topic == bulkTopic || ownTopics.contains(topic)
    }

    /// Whether an event of `app` may come from `topic`.
    ///
    /// The broker says who may write to a topic, so it keeps producers apart: what arrives on one app's topic is never
    /// another app's, and an app with topics of its own takes nothing from the shared ones but operators' requests.
    func accepts(_ app: App, from topic: String, isReissue: Bool) -> Bool {
        if ownTopics.isEmpty || app.topics.contains(topic) { return true }
        guard !ownTopics.contains(topic) else { return false }
        return app.topics.isEmpty || isReissue && topic == bulkTopic
    }
}
