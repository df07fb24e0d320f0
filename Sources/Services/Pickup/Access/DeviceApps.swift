import WorkerConfiguration

/// The apps of a configuration as devices see them: the sessions that open each app.
struct DeviceApps {
    private let apps: [String]
    private let pickup: Configuration.Pickup

    init(_ configuration: Configuration, _ pickup: Configuration.Pickup) {
        apps = configuration.apps.map(\.name)
        self.pickup = pickup
    }

    /// Requires that at least one app is open to sessions, if there are sessions.
    ///
    /// - Throws: `PickupError` with the lines to add.
    func requireOne() throws(PickupError) {
        guard let session = pickup.sessions.first, pickup.apps.isEmpty else { return }
        let lines = apps.map { "\($0): { issuer: \"\(session.issuer)\" }" }.joined(separator: ", ")
        throw PickupError(
            "pickup.\(session.name) opens no app; name the apps that devices reach: pickup: apps: { \(lines) }")
    }

    /// A line for each app.
    var lines: [String] {
        apps.map { app in
            let ways = pickup.ways(into: app).map { way in
                let audience = way.audience.map { "audience \($0)" } ?? "any audience"
                return "pickup.\(way.session) (issuer \(way.issuer), \(audience), user \(way.claim))"
            }
            let keys = pickup.apiKeys.filter { $0.apps.isEmpty || $0.apps.contains(app) }.map(\.name)
            let backends = keys.isEmpty ? "no API key" : "API keys \(keys.joined(separator: ", "))"
            let devices =
                ways.isEmpty ? "not open to devices: pickup.apps does not name it" : ways.joined(separator: ", ")
            return "app \(app): \(devices); \(backends)"
        }
    }
}
