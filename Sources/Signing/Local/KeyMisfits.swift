import AdapterKit
import JOSE
public import Keyring
public import WorkerConfiguration

extension Configuration.App {
    /// Returns the differences between the keys of `ring` and the kind of key that the app's vendor accepts.
    public func misfits(of ring: KeyRing) -> [Diagnostic] {
        return ring.versions.filter { $0.state.verifies }.flatMap { version -> [Diagnostic] in
            var found: [Diagnostic] = []
            func note(_ severity: Diagnostic.Severity, _ message: String) {
                found.append(
                    Diagnostic(severity, at: keyPlace, "the version \(version.id) of \(ring.name) \(message)"))
            }
            if version.algorithm != adapter.algorithm {
                note(
                    .error,
                    "is for \(version.algorithm.rawValue), and \(adapter.vendor) takes \(adapter.algorithm.rawValue) alone"
                )
            } else if let expected = adapter.secretEncoding, let encoding = version.secretEncoding, encoding != expected
            {
                note(
                    .warning,
                    "is written as \(encoding.rawValue), and \(adapter.vendor) shows its secrets as \(expected.rawValue)"
                )
            }
            if version.signingKey?.isShorterThanDigest == true {
                note(
                    .warning,
                    "is shorter than its digest, \(version.algorithm.digestBytes) bytes (RFC 7518, section 3.2)")
            }
            return found
        }
    }
}
