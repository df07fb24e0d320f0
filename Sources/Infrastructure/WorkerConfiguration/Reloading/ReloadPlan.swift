import AdapterKit

/// The effect of a reloaded file on a running worker: the configuration it uses from now on, and the changes that need
/// a restart.
public struct ReloadPlan: Sendable {
    /// The worker's configuration from now on: the new file, with the old values of the keys that need a restart.
    package let configuration: Configuration
    /// The changes that the worker applies: names of keys that concern all apps, and apps and key rings as `apps.NAME`
    /// and `keys.NAME`.
    package let changes: [String]
    /// The keys that differ from their values at the worker's start and need a restart.
    package let needsRestart: [String]
    package let unchangedApps: Set<String>

    /// Whether there is nothing to take over.
    package var isEmpty: Bool { changes.isEmpty }

    /// - Parameters:
    ///   - started: The configuration that the worker was started with.
    ///   - running: The configuration that the worker uses now.
    ///   - new: The file's configuration now; it has no errors.
    package init(started: Configuration, running: Configuration, new: Configuration) {
        var draft = Draft(started: started, running: running, new: new)
        draft.keepWhatNeedsRestart()
        draft.chooseKeys()
        draft.chooseApps()
        draft.tellAccountsApart()
        configuration = draft.target
        // Who is asked with which credentials at which name depends on the other apps, too.
        let before = Dictionary(running.apps.map { ($0.name, $0) }) { first, _ in first }
        unchangedApps = Set(
            draft.target.apps.filter { app in before[app.name].map { app.isAsBefore($0) } ?? false }.map(\.name))
        let apps = Self.names(running.apps.map(\.name), draft.target.apps.map(\.name)) { [unchangedApps] in
            unchangedApps.contains($0)
        }
        let folders = Dictionary(running.keys.map { ($0.name, $0) }) { first, _ in first }
        let rings = Self.names(running.keys.map(\.name), draft.target.keys.map(\.name)) { name in
            draft.target.keys.first { $0.name == name }?.isAsBefore(folders[name]) ?? false
        }
        changes =
            running.written.changes(to: new.written).filter { $0.change == .reloads }.map(\.name)
            + rings.map(Configuration.Key.fullName) + apps.map(Configuration.App.fullName)
        needsRestart =
            Self.restarts(started, new)
            + draft.heldBack.map { "\(Configuration.App.fullName(of: $0)).\(Configuration.App.keyKey.name)" }
    }

    /// Returns the names of `old` and `new` that are in one of them alone, or whose things differ; in order.
    private static func names(_ old: [String], _ new: [String], isSame: (String) -> Bool) -> [String] {
        let still = Set(new)
        return new.filter { !isSame($0) } + old.filter { !still.contains($0) }
    }

    /// Returns the keys that need a restart. The gateway's section does not affect a worker.
    private static func restarts(_ started: Configuration, _ new: Configuration) -> [String] {
        started.written.changes(to: new.written)
            .filter {
                $0.change == .needsRestart
                    && $0.name.split(separator: ".").first ?? "" != Configuration.Pickup.section.name
            }.map(\.name)
    }
}

extension ReloadPlan {
    private struct Draft {
        let started: Configuration
        let running: Configuration
        var target: Configuration
        /// Apps that would sign with a key that only a restart brings.
        var heldBack: [String] = []

        init(started: Configuration, running: Configuration, new: Configuration) {
            self.started = started
            self.running = running
            target = new
        }

        /// Keeps the values that clients, topics and threads were made with.
        mutating func keepWhatNeedsRestart() {
            target.kafka = started.kafka
            target.delivery = started.delivery
            target.topics = started.topics
            target.admin = started.admin
            target.telemetry = started.telemetry
            Configuration.Worker.settings.keep(started.worker, in: &target.worker)
            Configuration.Worker.batchSettings.keep(started.worker, in: &target.worker)
            Configuration.Retries.settings.keep(started.worker.retries, in: &target.worker.retries)
            Configuration.Admission.settings.keep(started.worker.admission, in: &target.worker.admission)
            Configuration.Lookups.settings.keep(started.worker.lookups, in: &target.worker.lookups)
            Configuration.Log.settings.keep(started.log, in: &target.log)
        }

        /// Rings that a signer held at the start stay with it; ones that a signer is to hold from now on wait for the next start.
        mutating func chooseKeys() {
            target.keys = target.keys.compactMap { key in
                if let behind = started.keys.first(where: { $0.name == key.name && $0.signer != nil }) { return behind }
                return key.signer == nil ? key : running.keys.first { $0.name == key.name }
            }
        }

        mutating func chooseApps() {
            let rings = Set(target.keys.map(\.name))
            target.apps = target.apps.compactMap { app in
                let old = running.apps.first { $0.name == app.name }
                guard rings.contains(app.key), isSigned(app) else {
                    heldBack.append(app.name)
                    return old
                }
                var app = app
                // A new app comes with its topics: from others it takes nothing, and these are consumed after the next start.
                if let old { app.topics = old.topics }
                return app
            }
            // An app that stays as it was keeps its ring.
            for app in target.apps where !target.keys.contains(where: { $0.name == app.key }) {
                if let ring = running.keys.first(where: { $0.name == app.key }) { target.keys.append(ring) }
            }
        }

        /// Renames accounts whose names clash: an account is named after one of its apps, and a held-back app's account
        /// may have a name that another one has by now. Nobody is asked with another account's credentials.
        mutating func tellAccountsApart() {
            let named = Dictionary(
                target.apps.filter { !heldBack.contains($0.name) }.compactMap(\.lookup).map {
                    ($0.account, $0.endpointFingerprint)
                }
            ) { first, _ in first }
            for index in target.apps.indices where heldBack.contains(target.apps[index].name) {
                guard let lookup = target.apps[index].lookup, let other = named[lookup.account],
                    other != lookup.endpointFingerprint
                else { continue }
                target.apps[index].lookup?.account = "\(lookup.account) (before)"
            }
        }

        /// Returns whether the holder of the app's ring signs with the app's algorithm: a signer's client knows the
        /// algorithms of its start.
        private func isSigned(_ app: Configuration.App) -> Bool {
            guard target.keys.contains(where: { $0.name == app.key && $0.signer != nil }) else { return true }
            return started.apps.contains { $0.key == app.key && $0.adapter.algorithm == app.adapter.algorithm }
        }
    }
}

extension Configuration.App {
    /// Returns whether the app is unchanged: its own keys and files, and its account for look-ups.
    fileprivate func isAsBefore(_ old: Configuration.App) -> Bool {
        fingerprint == old.fingerprint && topics == old.topics && lookup?.account == old.lookup?.account
    }
}

extension Configuration.Key {
    fileprivate func isAsBefore(_ old: Configuration.Key?) -> Bool { old?.path == path && old?.signer == signer }
}
