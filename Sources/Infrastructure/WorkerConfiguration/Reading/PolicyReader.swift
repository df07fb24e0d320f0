import AdapterKit
import YAMLReading
import Yams

/// Reads `keys.*.policy`: the limits on a signer's signatures with the ring.
struct PolicyReader {
    /// The section of the ring.
    let key: Section

    func read() -> Configuration.SigningPolicy {
        var policy = Configuration.SigningPolicy()
        let section = key.section(Configuration.SigningPolicy.section)
        section.read(Configuration.SigningPolicy.settings, into: &policy)
        section.finish()
        return policy
    }
}
