public import JOSE
public import Keyring

/// The keys that a vendor accepts for one app.
public struct RingUse: Sendable {
    /// The vendor's name.
    public var vendor: String
    /// The one algorithm that the vendor accepts.
    public var algorithm: Algorithm
    /// The form in which the vendor shows its shared secrets; nil for key pairs.
    public var secretEncoding: SecretEncoding?

    /// Makes the use of a ring by an app of `vendor`.
    public init(vendor: String, algorithm: Algorithm, secretEncoding: SecretEncoding?) {
        self.vendor = vendor
        self.algorithm = algorithm
        self.secretEncoding = secretEncoding
    }

    /// Returns the differences between the keys of `ring` and the kind of key that the vendor accepts.
    public func misfits(of ring: KeyRing) -> [KeyMisfit] {
        return ring.versions.filter { $0.state.verifies }.flatMap { version -> [KeyMisfit] in
            var found: [KeyMisfit] = []
            func note(isError: Bool, _ message: String) {
                found.append(
                    KeyMisfit(isError: isError, message: "the version \(version.id) of \(ring.name) \(message)"))
            }
            if version.algorithm != algorithm {
                note(
                    isError: true,
                    "is for \(version.algorithm.rawValue), and \(vendor) takes \(algorithm.rawValue) alone")
            } else if let expected = secretEncoding, let encoding = version.secretEncoding, encoding != expected {
                note(
                    isError: false,
                    "is written as \(encoding.rawValue), and \(vendor) shows its secrets as \(expected.rawValue)")
            }
            if version.signingKey?.isShorterThanDigest == true {
                note(
                    isError: false,
                    "is shorter than its digest, \(version.algorithm.digestBytes.of("byte")) (RFC 7518, section 3.2)")
            }
            return found
        }
    }
}

/// A difference between a version of a ring and the kind of key that an app's vendor accepts.
public struct KeyMisfit: Sendable, Equatable {
    /// Whether the vendor refuses tokens of the version; otherwise someone should look.
    public let isError: Bool
    /// The version and the difference.
    public let message: String
}
