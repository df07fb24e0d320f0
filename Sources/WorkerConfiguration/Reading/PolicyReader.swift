import AdapterKit
import Yams

/// Reads `keys.*.policy`: the limits on a signer's signatures with the ring.
struct PolicyReader {
    /// The section of the ring.
    let key: Section

    func read() -> Configuration.SigningPolicy {
        var policy = Configuration.SigningPolicy()
        let section = key.section("policy")
        if let algorithms = algorithms(section) { policy.algorithms = algorithms }
        if let life = section.duration("longest_life", in: Configuration.SigningPolicy.lifeRange) {
            policy.longestLife = life
        }
        if let (issuer, _) = section.requiredTextIfPresent("issuer") { policy.issuer = issuer }
        section.finish()
        return policy
    }

    private func algorithms(_ section: Section) -> Set<Algorithm>? {
        guard let node = section.value("algorithms") else { return nil }
        guard let names = node.sequence, !names.isEmpty else {
            section.diagnostics.error(node, "\(section.path("algorithms")) must be a list such as [ES256]")
            return nil
        }
        var algorithms: Set<Algorithm> = []
        for name in names {
            guard let algorithm = name.string.flatMap(Algorithm.init(named:)) else {
                let known = Algorithm.allCases.flatMap(\.names).joined(separator: ", ")
                section.diagnostics.error(name, "\(section.path("algorithms")) knows \(known)")
                return nil
            }
            algorithms.insert(algorithm)
        }
        return algorithms
    }
}
