package import AdapterKit

extension BatchProcessor {
    /// A change that an operator should know of.
    public enum Alarm: Sendable, Equatable {
        /// This worker suspended an app by the fleet's counts.
        case suspended(Suspension)
        /// This worker suspended an app for its own partitions, because it cannot know the other workers' counts.
        case suspendedHere(Suspension)
        /// Probes show that the vendor accepts tokens of the key: only the events of the users who refused wait.
        case narrowed(Suspension)
        /// The share of an app's users who refuse our tokens is high enough for an alert, but not for a suspension.
        case refusing(app: String, RefusalCounts)
        /// The share of refusing users is low again.
        case accepting(app: String, RefusalCounts)
        /// A suspension or a pause is over.
        case resumed(Suspension, Resumption)
        /// The fleet suspended or paused an app, at another worker or by an operator.
        case told(Suspension)
    }

    /// The reason that an app's events are answered again.
    public enum Resumption: String, Sendable {
        /// Users who got tokens do not refuse them.
        case probe
        /// An operator resumed the app, or another worker did.
        case told
        /// The pause has passed its end.
        case elapsed
    }

    /// Returns the alarms since the last call.
    public mutating func takeAlarms() -> [Alarm] {
        defer { alarms = [] }
        return alarms
    }

    /// The suspensions and pauses of apps.
    public var suspensions: [Suspension] { admission.suspensions.all }

    /// Returns the time from which an event of the suspended `app` may be its probe; nil while there is one.
    package func nextProbe(of app: String) -> UnixTime? { admission.suspensions.nextProbe(of: app) }

    /// The number of remembered subjects, and the memory's size in bytes.
    public var memory: (subjects: Int, bytes: Int) { admission.memory }

    /// Applies the fleet's state of `app`: a suspension, a pause, or neither. Then its events are answered when they return from the
    /// retry tiers. The states of some apps that are not configured are kept: a reload may add them.
    public mutating func hold(_ suspension: Suspension?, of app: String) {
        let before = admission.suspensions.all.first { $0.app == app }
        guard reader.apps[app] != nil || admission.suspensions.hasPlace(for: app, besides: reader.apps.names) else {
            return
        }
        guard admission.suspensions.hold(suspension, of: app, at: now()) else { return }
        if let now = admission.suspensions.all.first(where: { $0.app == app }) {
            alarms.append(.told(now))
        } else if let before {
            alarms.append(.resumed(before, suspension == nil ? .told : .elapsed))
            forget(before)
        }
    }

    /// Has `apply` read the records that were written before this worker began to read the topic. They are a state, not
    /// changes. Raises alarms only for the resulting differences: new suspensions, and suspensions that are over.
    public mutating func takeHistory(_ apply: (inout BatchProcessor) -> Void) {
        let (told, before) = (alarms, suspensions)
        apply(&self)
        let after = suspensions
        alarms = told
        for suspension in after {
            let isKnown = before.contains {
                $0.app == suspension.app && $0.cause == suspension.cause && $0.reach == suspension.reach
            }
            if !isKnown { alarms.append(.told(suspension)) }
        }
        let time = now()
        for ended in before where !after.contains(where: { $0.app == ended.app }) {
            alarms.append(.resumed(ended, ended.isOver(at: time) ? .elapsed : .told))
        }
    }

    /// Makes the next events probes if another key than the refused one signs. Ends or narrows suspensions whose probes
    /// passed, and ends pauses that have passed their end.
    public mutating func checkSuspensions() { checkSuspensions(at: now()) }

    mutating func checkSuspensions(at time: UnixTime) {
        for suspension in admission.suspensions.all {
            guard let app = reader.apps[suspension.app], let key = signing.activeKey(of: app.keyRing) else { continue }
            admission.suspensions.keyChanged(of: suspension.app, to: key.version, at: time)
        }
        for (app, change) in admission.suspensions.judgeProbes(at: time) { raise(change, of: app) }
        for ended in admission.suspensions.endElapsed(at: time) {
            alarms.append(.resumed(ended, .elapsed))
            forget(ended)
        }
        for (app, change) in admission.suspensions.decide(at: time) { raise(change, of: app) }
    }

    /// Forgets the app of a suspension that is over, if it is not configured.
    private mutating func forget(_ ended: Suspension) {
        if reader.apps[ended.app] == nil { admission.suspensions.forget(ended.app) }
    }

    private mutating func raise(_ change: SuspendableApp.Change, of app: String) {
        switch change {
        case .suspended(let suspension): alarms.append(.suspended(suspension))
        case .suspendedHere(let suspension): alarms.append(.suspendedHere(suspension))
        case .narrowed(let suspension): alarms.append(.narrowed(suspension))
        case .ended(let suspension): alarms.append(.resumed(suspension, .probe))
        case .warned(let counts): alarms.append(.refusing(app: app, counts))
        case .calmed(let counts): alarms.append(.accepting(app: app, counts))
        }
    }

    // MARK: The fleet's counts

    /// Sets whether the control topic is read and written, so that the fleet's counts can be known. Otherwise, this
    /// worker decides for its own partitions.
    public mutating func follow(fleet isFollowed: Bool) { admission.suspensions.isFleetFollowed = isFollowed }

    /// Records another worker's counts of `app`, or this worker's own record; nil if the worker deletes them.
    public mutating func heard(_ counts: RefusalCounts?, of app: String, from worker: String) {
        guard reader.apps[app] != nil else { return }
        admission.suspensions.heard(counts, of: app, from: worker, at: now())
    }

    /// Returns the counts to write to the control topic now, by app and worker; nil deletes them. There is at most one
    /// per app and worker in each interval of 1 to 5 seconds, and none for an app without refusals.
    public mutating func dueReports() -> [(app: String, worker: String, counts: RefusalCounts?)] {
        admission.suspensions.dueReports(at: now())
    }

    /// Returns this worker's counts of each app.
    public mutating func refusalCounts() -> [String: RefusalCounts] { admission.suspensions.counts(at: now()) }
}
