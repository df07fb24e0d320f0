import AdapterKit
import JOSE
import Pipeline

/// A ring behind a signer, as far as the worker takes the signer's word for it.
struct TrustedRing: Sendable {
    /// The check of a version's signatures.
    enum Check: Sendable {
        /// This key's.
        case publicKey(VerificationKey)
        /// This long, in bytes: a shared secret stays with the signer, and without it nothing more can be checked.
        case length(Int)
    }

    /// A version that counts.
    struct Version: Sendable {
        let state: PublishedRing.Version.State
        let algorithm: Algorithm
        let check: Check

        /// The kind of signer that a token of this version has.
        var signer: TokenSigner {
            switch state {
            case .active: .active
            case .passive: .passive
            case .prepared: .prepared
            case .retired: .retired
            }
        }
    }

    /// The ring as the signer sent it.
    let published: PublishedRing
    /// The key that signs; nil where none does.
    let active: SigningKeyReference?
    /// Every version that counts, by its id.
    let versions: [String: Version]

    /// A ring that is not to be used, and why; without a byte of a key.
    struct Distrust: Error, Equatable {
        let reason: String
    }

    /// Checks a ring that the signer published.
    ///
    /// - Parameters:
    ///   - algorithms: the algorithms of the apps that use the ring.
    ///   - before: the ring as it was last trusted.
    init(_ published: PublishedRing, for algorithms: Set<Algorithm>, before: TrustedRing?) throws(Distrust) {
        var versions: [String: Version] = [:]
        var active: SigningKeyReference?
        for version in published.versions {
            let found = try Self.version(version)
            guard versions.updateValue(found, forKey: version.id) == nil else {
                throw Distrust(reason: "two versions share the id \(version.id)")
            }
            if let known = before?.versions[version.id], known.algorithm != found.algorithm {
                throw Distrust(
                    reason:
                        "the version \(version.id) was for \(known.algorithm.rawValue) and is for \(found.algorithm.rawValue) now; another algorithm takes another version"
                )
            }
            guard version.state == .active else { continue }
            guard active == nil else { throw Distrust(reason: "two versions are active") }
            if let other = algorithms.first(where: { $0 != found.algorithm }) {
                throw Distrust(
                    reason:
                        "its active version \(version.id) is for \(found.algorithm.rawValue), and an app that uses it takes \(other.rawValue)"
                )
            }
            active = SigningKeyReference(
                ring: published.name, version: version.id, keyID: version.keyID, algorithm: found.algorithm,
                retireAfter: version.retireAfter.map { UnixTime(microseconds: $0) })
        }
        self.published = published
        self.active = active
        self.versions = versions
    }

    private static func version(_ version: PublishedRing.Version) throws(Distrust) -> Version {
        guard !version.id.isEmpty else { throw Distrust(reason: "a version has no id") }
        guard let algorithm = Algorithm(named: version.algorithm) else {
            throw Distrust(reason: "the version \(version.id) is for an algorithm this worker does not know")
        }
        guard algorithm.keyType != .secret else {
            guard version.publicKeyPEM == nil else {
                throw Distrust(reason: "the version \(version.id) is a shared secret and comes with a public key")
            }
            return Version(state: version.state, algorithm: algorithm, check: .length(algorithm.digestBytes))
        }
        guard let pem = version.publicKeyPEM else {
            throw Distrust(reason: "the version \(version.id) comes without its public key")
        }
        do throws(JOSEError) {
            let key = try VerificationKey(publicKeyPEM: pem, algorithm: algorithm, keyID: version.keyID)
            return Version(state: version.state, algorithm: algorithm, check: .publicKey(key))
        } catch { throw Distrust(reason: "the public key of the version \(version.id): \(error.message)") }
    }

    /// Returns whether `signature` is valid for `request`, as far as the ring's published keys allow to check it.
    func isRight(_ signature: [UInt8], for request: SigningRequest) -> Bool {
        guard let version = versions[request.key.version], version.state != .retired,
            version.algorithm == request.key.algorithm
        else { return false }
        switch version.check {
        case .publicKey(let key): return key.isValid(signature, of: request.input.bytes)
        case .length(let bytes): return signature.count == bytes
        }
    }
}
