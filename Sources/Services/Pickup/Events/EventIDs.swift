import AdapterKit
import JOSE

/// Makes the ids of the gateway's events. A caller who sees some ids cannot guess another one: with a guessed id, an
/// event could end another caller's wait.
struct EventIDs: Sendable {
    /// 32 random bytes, known to this process alone.
    private let secret: [UInt8]

    /// Ids under a secret from `random`.
    init(random: some RandomNumberGenerator = SystemRandomNumberGenerator()) {
        var random = random
        secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Returns the id of an event with `report`. The same report of the same device has the same id, so that a lost
    /// answer is not asked for twice.
    func id(of report: [UInt8], subjectKey: [UInt8], device: String?) -> String {
        let text = subjectKey + [0] + Array((device ?? "").utf8) + [0] + report
        // Hashed twice, as HMAC does, so that the first hash's end reveals nothing about longer texts.
        let digest = SHA256.hash(secret + SHA256.hash(secret + text))
        return "pickup-" + Base64.url.encode(Array(digest.prefix(18)))
    }

    /// Returns a unique id: 122 random bits.
    func fresh() -> String {
        var random = SystemRandomNumberGenerator()
        return "pickup-" + RandomUUID.make(using: &random)
    }
}
