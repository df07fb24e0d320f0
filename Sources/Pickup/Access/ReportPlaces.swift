import Access
import AdapterKit

/// Limits on the reports that arrive at the same time, in all and per user. Each takes up to 64 kB until its event is made,
/// and a slow caller has half a minute.
struct ReportPlaces: Sendable {
    private static let ofUser = 16
    private let places = OpenPlaces(most: 512)

    /// Takes a place for a report of `asker`'s user of `app`.
    ///
    /// - Throws: `Problem` where too many arrive.
    func take(_ asker: Asker, _ app: PickupApp) throws(Problem) -> OpenPlace {
        let user = String(decoding: asker.subject.key(app: app.name), as: UTF8.self)
        guard let place = places.take([OpenPlaces.Holder("user", user, most: Self.ofUser)]) else {
            throw Problem.unavailable("too many reports arrive at the same time")
        }
        return place
    }
}
