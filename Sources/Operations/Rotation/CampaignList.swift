import AdapterKit
import Pipeline
import WorkerConfiguration

/// A round's subjects in their order: users who can be asked for, then those who cannot.
struct CampaignList {
    /// The subject keys.
    let keys: [[UInt8]]
    /// The users who can be asked for, from the first key on.
    let eligible: Int

    /// The list of `keys`, whose order is kept among users of a kind.
    ///
    /// - Parameter ring: the campaign's ring: an app that uses another one by now is asked for, but makes no canary.
    init(_ keys: [[UInt8]], _ configuration: Configuration, ring: String) {
        let apps = Dictionary(configuration.apps.map { ($0.name, $0) }) { first, _ in first }
        var first: [[UInt8]] = []
        var rest: [[UInt8]] = []
        for key in keys {
            if Self.event(for: key, apps, ring: ring) != nil { first.append(key) } else { rest.append(key) }
        }
        self.keys = first + rest
        eligible = first.count
    }

    /// The event for the subject `key`; nil where it cannot be asked for.
    private static func event(
        for key: [UInt8], _ apps: [String: Configuration.App], ring: String
    ) -> ReissueEvent? {
        guard let subject = SubjectKey(key), let app = apps[subject.app], app.key == ring else { return nil }
        return try? ReissueEvent(
            user: subject.user, app: app.name, adapter: app.adapter, id: "", at: UnixTime(seconds: 0))
    }
}
