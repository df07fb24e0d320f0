import YAMLReading
import Yams

/// Reads `worker`: batches, lanes, retries, admission, look-ups.
struct WorkerReader {
    func read(_ section: Section, into worker: inout Configuration.Worker) {
        let batch = section.section(Configuration.Worker.batch)
        batch.read(Configuration.Worker.batchSettings, into: &worker)
        batch.finish()
        section.read(Configuration.Worker.settings, into: &worker)
        let retries = section.section(Configuration.Retries.section)
        retries.read(Configuration.Retries.settings, into: &worker.retries)
        retries.finish()
        let admission = section.section(Configuration.Admission.section)
        admission.read(Configuration.Admission.settings, into: &worker.admission)
        admission.finish()
        let lookups = section.section(Configuration.Lookups.section)
        lookups.read(Configuration.Lookups.settings, into: &worker.lookups)
        lookups.finish()
        section.finish()
    }
}
