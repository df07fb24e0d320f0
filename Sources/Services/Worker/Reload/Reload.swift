import HTTPTransport
import JOSE
import Keyring
import Pipeline
import Preflight
import VendorLookup
import Wiring
import WorkerConfiguration

/// A configuration that a running worker can switch to. All checks that could refuse it are done.
struct Reload: Sendable {
    let plan: ReloadPlan
    /// The key rings that are new or come from another folder.
    let rings: [KeyRing]
    /// The revisions of their listings, taken just before they were read.
    let revisions: [String: FileRevision?]
    let goneRings: [String]
    let accounts: LookupAccounts
    let succession: LookupSuccession

    /// - Parameters:
    ///   - preflight: The file that was read again, without errors.
    ///   - running: The effective configuration.
    /// - Throws: `EndpointError` if an endpoint cannot be used.
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

    /// Returns the new settings for the pipeline of the worker called `name`.
    ///
    /// - Parameter reserved: Topics that are consumed for single apps, whether these apps still exist or not.
    func terms(worker name: String, reserved: [String]) -> ProcessorTerms {
        let configuration = plan.configuration
        return ProcessorTerms(
            apps: configuration.pipelineApps, unchanged: plan.unchangedApps, reservedTopics: Set(reserved),
            maximumEventBytes: configuration.worker.maximumEventBytes,
            admission: configuration.admissionRules(worker: name), retries: configuration.retryPolicy,
            accounts: VendorLookups.accounts(configuration), accountsBefore: succession.before,
            fixedAccounts: succession.fixed, rememberedAnswers: configuration.worker.lookups.cache)
    }
}
