import HTTPTransport
import JOSE
import Keyring
import Pipeline
import VendorLookup
import WorkerConfiguration

/// A configuration that a running worker can go on by, with everything that could be wrong about it behind it.
struct Reload: Sendable {
    /// What changes.
    let plan: ReloadPlan
    /// The key rings that are read in or come from another folder.
    let rings: [KeyRing]
    /// Their listings, as they were just before.
    let revisions: [String: FileRevision?]
    /// The rings that are no more.
    let goneRings: [String]
    /// Who is asked.
    let accounts: LookupAccounts
    /// Which of them go on.
    let succession: LookupSuccession

    /// - Parameters:
    ///   - preflight: the file that was read again, which is right.
    ///   - running: what the worker goes by.
    /// - Throws: `EndpointError` where an endpoint cannot be used.
    init(_ plan: ReloadPlan, _ preflight: Preflight, running: Configuration) throws(EndpointError) {
        self.plan = plan
        let paths = Dictionary(running.keys.map { ($0.name, $0.path) }) { first, _ in first }
        let fresh = plan.configuration.keys.filter { $0.path != nil && paths[$0.name] != $0.path }
        rings = fresh.compactMap { preflight.rings[$0.name] }
        let folders = Set(fresh.compactMap(\.path))
        revisions = preflight.revisions.filter { folders.contains($0.key) }
        goneRings = running.keys.filter { key in
            key.path != nil && !plan.configuration.keys.contains { $0.name == key.name }
        }.map(\.name)
        succession = LookupSuccession(
            from: VendorLookups.fingerprints(running), to: VendorLookups.fingerprints(plan.configuration))
        accounts = try LookupAccounts(
            VendorLookups.endpoints(plan.configuration), keeping: succession.kept)
    }

    /// What the pipeline of the worker called `name` goes on by.
    ///
    /// - Parameter reserved: topics that are consumed for single apps, whether these are still there or not.
    func terms(worker name: String, reserved: [String]) -> ProcessorTerms {
        let configuration = plan.configuration
        return ProcessorTerms(
            apps: configuration.pipelineApps, unchanged: plan.unchangedApps, reservedTopics: Set(reserved),
            maximumEventBytes: configuration.worker.maximumEventBytes,
            admission: configuration.admissionRules(worker: name), retries: configuration.retryPolicy,
            accounts: VendorLookups.accounts(configuration), accountsBefore: succession.before,
            mendedAccounts: succession.mended, rememberedAnswers: configuration.worker.lookups.cache)
    }
}
