import AdapterKit

/// The configured apps by name, and the topics that their events may come from.
struct AppDirectory: Sendable {
    private let apps: [String: App]
    /// The same apps if there are few: a comparison of few names is faster than a hash.
    private let few: [App]
    /// The topics that belong to single apps.
    private let ownTopics: Set<String>
    /// The topic that all producers share.
    let liveTopic: String
    /// The topic that operators' jobs write to, for all apps.
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

    /// All apps.
    var all: some Collection<App> { apps.values }

    /// The names of all apps.
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
