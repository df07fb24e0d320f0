import AdapterKit

extension BatchProcessor {
    /// Something an operator should know of.
    public enum Alarm: Sendable, Equatable {
        /// This worker suspended an app, by the fleet's counts.
        case suspended(Suspension)
        /// This worker suspended an app for its own partitions: it cannot know the other workers' counts.
        case suspendedHere(Suspension)
        /// A share of an app's users that is worth an alert refuses our tokens; it suspends nobody.
        case refusing(app: String, RefusalCounts)
        /// It no longer does.
        case accepting(app: String, RefusalCounts)
        /// A suspension or a pause ended.
        case resumed(Suspension, Resumption)
        /// The whole fleet's word: an app was suspended or paused elsewhere.
        case told(Suspension)
    }

    /// The reason an app's events are answered again.
    public enum Resumption: String, Sendable {
        /// A probe's token was not refused.
        case probe
        /// An operator said so, or another worker found out.
        case told
        /// The pause's time is over.
        case elapsed
    }

    /// Returns the alarms since the last call.
    public mutating func takeAlarms() -> [Alarm] {
        defer { alarms = [] }
        return alarms
    }

    /// The apps whose events wait.
    public var suspensions: [Suspension] { admission.suspensions.all }

    /// How many recent subjects are remembered, and in how many bytes.
    public var memory: (subjects: Int, bytes: Int) { admission.memory }

    /// Ends the suspension of `app`; its events are answered as they come back from the retry tiers.
    public mutating func resume(_ app: String) { hold(nil, of: app) }

    /// Applies the fleet's word on `app`: a suspension, a pause, or neither.
    public mutating func hold(_ suspension: Suspension?, of app: String) {
        let before = admission.suspensions.all.first { $0.app == app }
        guard admission.suspensions.hold(suspension, of: app, at: now()) else { return }
        if let now = admission.suspensions.all.first(where: { $0.app == app }) {
            alarms.append(.told(now))
        } else if let before {
            alarms.append(.resumed(before, suspension == nil ? .told : .elapsed))
        }
    }

    /// Has `apply` take in what the fleet was told before anybody listened here: a state, and no news. Of what it changes, what holds now
    /// is told, and what held before and does no more.
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

    /// Lets a probe through where another key signs than the one that was refused; ends suspensions whose probe passed and pauses whose
    /// time is over.
    public mutating func checkSuspensions() { checkSuspensions(at: now()) }

    mutating func checkSuspensions(at time: UnixTime) {
        for suspension in admission.suspensions.all {
            guard let app = reader.apps[suspension.app], let key = signing.activeKey(of: app.keyRing) else { continue }
            admission.suspensions.keyChanged(of: suspension.app, to: key.version, at: time)
        }
        for ended in admission.suspensions.endProbed(at: time) { alarms.append(.resumed(ended, .probe)) }
        for ended in admission.suspensions.endElapsed(at: time) { alarms.append(.resumed(ended, .elapsed)) }
        for (app, change) in admission.suspensions.decide(at: time) {
            switch change {
            case .suspended(let suspension): alarms.append(.suspended(suspension))
            case .suspendedHere(let suspension): alarms.append(.suspendedHere(suspension))
            case .ended(let suspension): alarms.append(.resumed(suspension, .probe))
            case .warned(let counts): alarms.append(.refusing(app: app, counts))
            case .calmed(let counts): alarms.append(.accepting(app: app, counts))
            }
        }
    }

    // MARK: The fleet's counts

    /// Whether the control topic is followed and written, so that the fleet's counts can be known. Without it this worker counts
    /// for its own partitions.
    public mutating func follow(fleet isFollowed: Bool) { admission.suspensions.isFleetFollowed = isFollowed }

    /// Another worker's counts of `app`, or its own come back; nil where the worker takes them back.
    public mutating func heard(_ counts: RefusalCounts?, of app: String, from worker: String) {
        guard reader.apps[app] != nil else { return }
        admission.suspensions.heard(counts, of: app, from: worker, at: now())
    }

    /// The counts to write to the control topic now, by app and worker; nil counts are taken back. At most one for an app and
    /// worker every five seconds, and none for an app without refusals.
    public mutating func dueReports() -> [(app: String, worker: String, counts: RefusalCounts?)] {
        admission.suspensions.dueReports(at: now())
    }

    /// This worker's counts of each app.
    public mutating func refusalCounts() -> [String: RefusalCounts] { admission.suspensions.counts(at: now()) }
}
