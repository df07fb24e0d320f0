import Access
import AdapterKit
import Formats
import HTTPTypes

/// Limits on open streams: in all, per user and per address.
struct StreamPlaces: Sendable {
    let places: OpenPlaces
    let ofUser, ofAddress: Int
    /// Called with the reason of each refusal.
    let refused: @Sendable (String) -> Void

    /// Takes a place for a stream of `asker`'s user of `app`.
    ///
    /// - Throws: `Problem` where too many are open.
    func take(_ asker: Asker, _ app: PickupApp, from address: IPAddress?) throws(Problem) -> OpenPlace {
        let user = String(decoding: asker.subject.key(app: app.name), as: UTF8.self)
        let holders =
            [OpenPlaces.Holder("user", user, most: ofUser)]
            + (address.map { [.init("address", $0.network.description, most: ofAddress)] } ?? [])
        guard let place = places.take(holders) else {
            refused("too_many_streams")
            throw Problem(.tooManyRequests, "too_many_streams", "too many streams are open", retryAfter: 5)
        }
        return place
    }
}
