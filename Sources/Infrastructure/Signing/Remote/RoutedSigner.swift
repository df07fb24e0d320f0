public import AdapterKit
public import Pipeline

/// Several signers as one: each ring's requests go to the one that has the ring.
public struct RoutedSigner: SigningPort {
    /// The signer of every ring that is not in `others`.
    let local: any SigningPort
    /// The signers by ring; a signer of several rings is in it several times.
    let others: [String: SignerProcess]

    /// Requests of the rings that `others` names go there, all else to `local`.
    public init(local: any SigningPort, others: [String: SignerProcess]) {
        self.local = local
        self.others = others
    }

    /// Returns the version of `ring` that signs, as the ring's signer knows it.
    public func activeKey(of ring: String) -> SigningKeyReference? {
        others[ring].map { $0.activeKey(of: ring) } ?? local.activeKey(of: ring)
    }

    /// Returns the keys of `ring` that verify, as the ring's signer knows them.
    public func verificationKeys(of ring: String) -> [RingKey] {
        others[ring].map { $0.verificationKeys(of: ring) } ?? local.verificationKeys(of: ring)
    }

    /// Signs all requests at once, and returns the results in their order.
    public func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        let shares = Dictionary(grouping: requests.indices) { index in
            others[requests[index].key.ring].map(ObjectIdentifier.init)
        }
        return await withTaskGroup(of: ([Int], [Result<[UInt8], Rejection>]).self) { group in
            for places in shares.values {
                let share = places.map { requests[$0] }
                guard let first = share.first else { continue }
                let signer = others[first.key.ring] as (any SigningPort)? ?? local
                group.addTask { (places, await signer.sign(share, urgency: urgency)) }
            }
            let missing = Result<[UInt8], Rejection>.failure(Rejection(.mintFailed, "the signer gave no answer"))
            var results = [Result<[UInt8], Rejection>](repeating: missing, count: requests.count)
            for await (places, signatures) in group {
                for (place, signature) in zip(places, signatures) { results[place] = signature }
            }
            return results
        }
    }
}
