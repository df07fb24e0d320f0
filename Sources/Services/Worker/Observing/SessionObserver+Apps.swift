import AdapterKit
import HTTPTransport
import Logging
import Pipeline
import Telemetry

// MARK: Apps, lanes and look-ups

extension SessionObserver {
    func raised(_ alarm: BatchProcessor.Alarm) {
        switch alarm {
        case .suspended(let suspension) where suspension.reach == .everyone:
            logger.error(
                "app.suspended", "the vendor refuses the key that signs; the app is suspended and its events wait",
                metadata: details(suspension))
        case .suspended(let suspension):
            logger.error(
                "app.users-suspended",
                "every user of the app who was given a token refuses it; the events of these users wait",
                metadata: details(suspension))
        case .suspendedHere(let suspension):
            logger.error(
                "app.suspended-here",
                "the vendor refuses the key that signs; the app is suspended for this worker's partitions alone, because the other workers' counts cannot be read",
                metadata: details(suspension))
        case .narrowed(let suspension):
            logger.warning(
                "app.suspension-narrowed",
                "the vendor accepts the tokens of some users who tested the key; only the events of the users who refused wait",
                metadata: details(suspension))
        case .refusing(let app, let counts):
            logger.warning(
                "app.users-limited",
                "some users of the app refuse their tokens because of the key; they are limited, and nobody is suspended",
                metadata: details(app, counts))
        case .accepting(let app, let counts):
            logger.notice(
                "app.users-accepting", "the app's users accept their tokens again", metadata: details(app, counts))
        case .told(let suspension):
            let details: Logger.Metadata = [LogKey.app: "\(suspension.app)", LogKey.detail: "\(suspension.why)"]
            if suspension.cause == .paused {
                logger.warning("app.paused", "an operator paused the app; its events wait", metadata: details)
            } else {
                logger.warning(
                    "app.suspended-elsewhere", "another worker suspended the app; its events wait", metadata: details)
            }
        case .resumed(let suspension, let resumption):
            let details: Logger.Metadata = [LogKey.app: "\(suspension.app)"]
            switch resumption {
            case .probe:
                logger.notice(
                    "app.probe-accepted", "most probes' tokens were not refused; the app is resumed", metadata: details)
            case .told:
                logger.notice("app.resumed", "the app is resumed by an operator or another worker", metadata: details)
            case .elapsed:
                logger.notice(
                    "app.pause-over", "the time of the app's pause is over; its events are answered again",
                    metadata: details)
            }
        }
    }

    private func details(_ suspension: Suspension) -> Logger.Metadata {
        [
            LogKey.app: "\(suspension.app)", LogKey.users: "\(suspension.users)",
            LogKey.keyVersion: "\(suspension.keyVersion ?? "")", LogKey.detail: "\(suspension.why)",
        ]
    }

    private func details(_ app: String, _ counts: RefusalCounts) -> Logger.Metadata {
        [
            LogKey.app: "\(app)", LogKey.users: "\(counts.refusing)", LogKey.keyVersion: "\(counts.keyVersion)",
            LogKey.detail: "\(counts.refusing) of \(counts.minted.of("user refuses", "users refuse")) their tokens",
        ]
    }

    /// Shows the apps in metrics and on the admin server.
    ///
    /// - Parameter memory: the recent subjects that the worker remembers, and their bytes.
    func show(_ apps: [WorkerStatus.AppStatus], memory: (subjects: Int, bytes: Int)) {
        status.set(apps)
        metrics.set(apps, memory: memory)
    }

    /// Shows the paused lanes in metrics and on the admin server.
    func show(_ pauses: LanePauses) {
        status.set(pauses.all)
        metrics.set(paused: pauses.lanes)
    }

    func changed(_ change: LanePauses.Change) {
        func details(_ pause: LanePause) -> Logger.Metadata { [LogKey.lane: "\(pause.lane.rawValue)"] }
        switch change {
        case .paused(let pause):
            logger.warning(
                "lane.paused", "an operator paused the lane; its events stay where they are",
                metadata: details(pause).merging([LogKey.detail: "\(pause.why)"]) { first, _ in first })
        case .resumed(let pause):
            logger.notice(
                "lane.resumed", "an operator resumed the lane; its events are taken again", metadata: details(pause))
        case .elapsed(let pause):
            logger.notice(
                "lane.pause-over", "the time of the lane's pause is over; its events are taken again",
                metadata: details(pause))
        }
    }

    func measured(
        _ machine: SessionStateMachine, _ processor: BatchProcessor, refusals: [String: RefusalCounts],
        lag: [[String]: Double], at time: UnixTime
    ) {
        metrics.set(machine, at: time)
        metrics.set(lag: lag)
        metrics.set(refusals: refusals)
        let conditions = processor.lookupConditions
        metrics.set(conditions, remembered: processor.rememberedAnswers)
        let troubles = conditions.compactMap { account in account.trouble.map { "\(account.account): \($0)" } }
        status.degradations.set(.lookups, troubles.isEmpty ? nil : troubles.joined(separator: "; "))
    }

    /// Counts and logs the look-ups since the last call.
    func lookedUp(_ tally: LookupTally) {
        metrics.add(tally)
        for notice in tally.notices {
            switch notice {
            case .opened(let account, let detail):
                logger.error(
                    "vendor.unavailable",
                    "a vendor's REST API does not answer as it should; its circuit is open, and events wait",
                    metadata: [LogKey.account: "\(account)", LogKey.detail: "\(detail)"])
            case .closed(let account, let length):
                let outage = Outage.text(.microseconds(length))
                logger.notice(
                    "vendor.available", "the vendor's REST API answers again",
                    metadata: [LogKey.account: "\(account)", LogKey.outage: "\(outage)"])
            case .mismatched(let account, let detail):
                logger.error(
                    "vendor.answer-mismatched",
                    "a vendor's answer names another user than was asked about; it is refused, and the event waits",
                    metadata: [LogKey.account: "\(account)", LogKey.detail: "\(detail)"])
            case .throttled(let account, let detail):
                logger.warning(
                    "vendor.throttling", "a vendor's REST API refuses every request for its rate; events wait",
                    metadata: [LogKey.account: "\(account)", LogKey.detail: "\(detail)"])
            case .accepted(let account, let length):
                let outage = Outage.text(.microseconds(length))
                logger.notice(
                    "vendor.throttling-over", "the vendor's REST API accepts requests again",
                    metadata: [LogKey.account: "\(account)", LogKey.outage: "\(outage)"])
            case .refused(let account, let detail):
                logger.warning(
                    "vendor.user-refused", "a vendor refuses to be asked about one user",
                    metadata: [LogKey.account: "\(account)", LogKey.detail: "\(detail)"])
            }
        }
    }
}
