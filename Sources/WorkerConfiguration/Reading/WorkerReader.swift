import Yams

/// Reads `worker`: batches, lanes, retries, admission, look-ups.
struct WorkerReader {
    func read(_ section: Section, into worker: inout Configuration.Worker) {
        let batch = section.section("batch")
        batch.read(Configuration.Worker.batchSettings, into: &worker)
        batch.finish()
        section.read(Configuration.Worker.settings, into: &worker)
        let retries = section.section("retries")
        if let tiers = readTiers(retries) { worker.retries.tiers = tiers }
        retries.read(Configuration.Retries.settings, into: &worker.retries)
        retries.finish()
        let admission = section.section("admission")
        admission.read(Configuration.Admission.settings, into: &worker.admission)
        admission.finish()
        let lookups = section.section("lookups")
        lookups.read(Configuration.Lookups.settings, into: &worker.lookups)
        lookups.finish()
        section.finish()
    }

    private func readTiers(_ section: Section) -> [Configuration.Retries.Tier]? {
        guard let node = section.value("tiers") else { return nil }
        let path = section.path("tiers")
        guard let entries = node.sequence, Configuration.Retries.tierCount.contains(entries.count) else {
            section.diagnostics.error(node, "\(path) must be a list of one to eight durations, such as [10s, 1m, 10m]")
            return nil
        }
        var tiers: [Configuration.Retries.Tier] = []
        for entry in entries {
            guard let name = entry.scalar?.string, let delay = DurationText.parse(name),
                Configuration.Retries.tierRange.contains(delay)
            else {
                section.diagnostics.error(entry, "a tier of \(path) must be a duration from 1s to 1d")
                return nil
            }
            if let last = tiers.last, delay <= last.delay {
                section.diagnostics.error(entry, "\(path) must grow from tier to tier; order them, and write each once")
                return nil
            }
            tiers.append(Configuration.Retries.Tier(name: name, delay: delay))
        }
        return tiers
    }
}
