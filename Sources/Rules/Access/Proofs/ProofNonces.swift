public import JOSE

/// The nonces that the instances of a gateway hand out for the next proofs (RFC 9449, section 8). A nonce is a string
/// derived from the current slot of time and the secret. A proof made elsewhere or earlier has no valid nonce.
///
/// Instances that share the secret accept each other's nonces. A proof counts once on each instance: it could be shown
/// again to another instance until its slot is over.
public struct ProofNonces: Sendable {
    /// The length of a slot, in seconds. The slot before counts because devices take time, and the slot after because
    /// the clocks of instances differ.
    public static let slot: Int64 = 10
    /// The shortest secret, in bytes.
    public static let leastSecret = 32

    private let secret: SecretBytes

    /// Nonces under `secret`; nil where it is too short.
    public init?(secret: SecretBytes) {
        guard secret.count >= Self.leastSecret else { return nil }
        self.secret = secret
    }

    /// Returns the nonce of the slot at `now`.
    public func nonce(at now: UnixTime) -> String { nonce(of: Self.slot(at: now)) }

    /// Returns whether `nonce` belongs to the slot at `now`, or to the one before or after.
    func isCurrent(_ nonce: String, at now: UnixTime) -> Bool {
        let (current, shown) = (Self.slot(at: now), Array(nonce.utf8))
        var isFound = false
        for slot in (current - 1)...(current + 1) {
            isFound = SHA256.equals(SHA256.hash(Array(self.nonce(of: slot).utf8)), SHA256.hash(shown)) || isFound
        }
        return isFound
    }

    private static func slot(at now: UnixTime) -> Int64 { now.seconds / slot }

    /// Returns the nonce of a slot: a keyed hash, nested like HMAC, so that nobody can extend it.
    private func nonce(of slot: Int64) -> String {
        let label = Array("remint DPoP nonce 1 ".utf8) + Array("\(slot) ".utf8)
        let inner = SecretBytes(label, followedBy: secret).withBytes { SHA256.hash($0) }
        let outer = SecretBytes(inner, followedBy: secret).withBytes { SHA256.hash($0) }
        return Base64.url.encode(Array(outer[..<18]))
    }
}
