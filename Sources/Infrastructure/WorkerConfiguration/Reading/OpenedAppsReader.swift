import Formats
import YAMLReading
import Yams

/// Reads `pickup.apps`: the apps that sessions open.
struct OpenedAppsReader {
    let apps: [String]
    /// The sessions of the file; nil where not all of them could be read.
    let sessions: [Configuration.Pickup.Session]?

    /// Returns the named apps, each with the sessions that can open it.
    func read(_ section: Section) -> [String: Configuration.Pickup.OpenedApp] {
        var opened: [String: Configuration.Pickup.OpenedApp] = [:]
        for (key, name, value) in section.all {
            guard apps.contains(name) else {
                section.diagnostics.error(key, Self.noApp(name, among: apps, key, section))
                continue
            }
            let entry = Section(value, at: key, name: section.path(name), section.diagnostics)
            defer { entry.finish() }
            var app = Configuration.Pickup.OpenedApp()
            entry.read(Configuration.Pickup.OpenedApp.settings, into: &app)
            guard let issuer = entry.placed(Configuration.Pickup.OpenedApp.issuerKey) else { continue }
            app.issuer = issuer.value
            opened[name] = app
            if !section.diagnostics.isRefused(issuer.node), let problem = problem(of: app) {
                let audience = entry.value(of: Configuration.Pickup.OpenedApp.audience)
                section.diagnostics.error(audience ?? issuer.node, "\(entry.name) \(problem)")
            }
        }
        return opened
    }

    /// Returns the reason why no session, or more than one, would open `app`; nil if exactly one reading of a session does.
    private func problem(of app: Configuration.Pickup.OpenedApp) -> String? {
        guard let sessions else { return nil }
        let issued = sessions.filter { $0.issuer.hasSameBytes(as: app.issuer) }
        guard !issued.isEmpty else {
            let known = sessions.map { "that of pickup.\($0.name)" }
            return known.isEmpty
                ? "needs sessions; add pickup.session with the issuer and its jwks"
                : "names the issuer of no session; known: \(known.joined(separator: ", "))"
        }
        let ways = app.ways(among: sessions)
        guard let first = ways.first else {
            return """
                names another audience than \(issued.map { "pickup.\($0.name)" }.joined(separator: ", ")); leave it out, or add \
                the audience under pickup.sessions
                """
        }
        guard let other = ways.first(where: { !$0.claim.hasSameBytes(as: first.claim) }) else { return nil }
        return """
            is opened by pickup.\(first.session) and by pickup.\(other.session), which name its user by different claims, and \
            one session may satisfy both; add audience or claim
            """
    }

    /// Returns the problem of `name`, which is no app's. The name may come from the environment.
    static func noApp(_ name: String, among apps: [String], _ node: Node, _ section: Section) -> String {
        let meant = Spelling.nearest(to: name, among: apps).map { "; did you mean \($0)?" }
        return
            "apps has no app called \(section.diagnostics.quote(name, node))\(meant ?? "; known: \(apps.joined(separator: ", "))")"
    }
}
