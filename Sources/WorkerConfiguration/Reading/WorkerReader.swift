import Yams

/// Reads `worker`: batches, lanes, retries, admission, look-ups.
struct WorkerReader {
    func read(_ section: Section, into worker: inout Configuration.Worker) {
        let batch = section.section("batch")
        if let events = batch.integer("events", in: 1...100_000) { worker.batchEvents = events }
        if let linger = batch.duration("linger", in: .milliseconds(1)...(.seconds(10))) { worker.batchLinger = linger }
        batch.finish()
        if let share = section.number("bulk_share", in: 0...0.5) { worker.bulkShare = share }
        if let bytes = section.integer("max_event_bytes", in: 1024...(64 << 20)) { worker.maximumEventBytes = bytes }
        if let memory = section.bytes("memory", in: (4 << 20)...(64 << 30)) { worker.memory = memory }
        if let deadline = section.duration("shutdown_deadline", in: .seconds(1)...(.seconds(600))) {
            worker.shutdownDeadline = deadline
        }
        readRetries(section.section("retries"), into: &worker.retries)
        readAdmission(section.section("admission"), into: &worker.admission)
        let lookups = section.section("lookups")
        if let answers = lookups.integer("cache", in: 100...10_000_000) { worker.lookups.cache = answers }
        lookups.finish()
        section.finish()
    }

    private func readRetries(_ section: Section, into retries: inout Configuration.Retries) {
        if let tiers = readTiers(section) { retries.tiers = tiers }
        if let attempts = section.integer("max_attempts", in: 1...100) { retries.maxAttempts = attempts }
        if let deadline = section.duration("deadline", in: .seconds(1)...(.seconds(30 * 86_400))) {
            retries.deadline = deadline
        }
        section.finish()
    }

    private func readTiers(_ section: Section) -> [Configuration.Retries.Tier]? {
        guard let node = section.value("tiers") else { return nil }
        let path = section.path("tiers")
        guard let entries = node.sequence, (1...8).contains(entries.count) else {
            section.diagnostics.error(node, "\(path) must be a list of one to eight durations, such as [10s, 1m, 10m]")
            return nil
        }
        var tiers: [Configuration.Retries.Tier] = []
        for entry in entries {
            guard let name = entry.scalar?.string, let delay = DurationText.parse(name),
                delay >= .seconds(1), delay <= .seconds(86_400)
            else {
                section.diagnostics.error(entry, "a tier of \(path) must be a duration from 1s to 1d")
                return nil
            }
            if let last = tiers.last, delay <= last.delay {
                section.diagnostics.error(entry, "\(path) must grow from tier to tier")
                return nil
            }
            tiers.append(Configuration.Retries.Tier(name: name, delay: delay))
        }
        return tiers
    }

    private func readAdmission(_ section: Section, into admission: inout Configuration.Admission) {
        if let subjects = section.integer("subjects", in: 0...100_000_000) { admission.subjects = subjects }
        if let window = section.duration("coalesce", in: .milliseconds(1)...(.seconds(60))) {
            admission.coalesce = window
        }
        if let users = section.integer("suspend_after", in: 1...1_000_000) { admission.suspendAfter = users }
        if let share = section.share("suspend_share", in: 0...1) { admission.suspendShare = share }
        if let wait = section.duration("suspend_probe", in: .seconds(1)...(.seconds(3600))) {
            admission.probeWait = wait
        }
        if let window = section.duration("suspend_window", in: .seconds(1)...(.seconds(86_400))) {
            admission.suspendWindow = window
        }
        section.finish()
    }
}
