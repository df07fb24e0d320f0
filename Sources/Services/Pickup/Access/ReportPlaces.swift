import Access
import AdapterKit
import Formats
import Synchronization

/// Limits on the reports that arrive at the same time: in all, per user and per address. Each takes up to 64 kB until its
/// event is made, and a slow caller has half a minute. Where all places are taken, the report that has been arriving the
/// longest gives way to the next one.
final class ReportPlaces: Sendable {
    /// The end of a report that gave way.
    struct GaveWay: Error {}

    /// The most reports: in all, of a user over all apps, and of an address (for IPv6, a /64).
    static let (most, ofUser, ofAddress) = (512, 16, 64)

    private struct State {
        var next = 0
        /// The reports that arrive, by the order of their beginnings.
        var arriving: [Int: (body: ArrivingBody, place: OpenPlace)] = [:]
    }

    private let places = OpenPlaces(most: most)
    private let state = Mutex(State())
    /// Called with the reason of each refusal.
    private let refused: @Sendable (String) -> Void

    init(refused: @escaping @Sendable (String) -> Void = { _ in }) { self.refused = refused }

    /// Takes a place for the report `body` of `asker` from `address`.
    ///
    /// - Returns: the place's number, for `release`.
    /// - Throws: `Problem` where too many of the user or of the address arrive.
    func take(_ asker: Asker, from address: IPAddress?, _ body: ArrivingBody) throws(Problem) -> Int {
        let holders =
            [OpenPlaces.Holder("user", Self.user(of: asker), most: Self.ofUser)]
            + (address.map { [.init("address", $0.network.description, most: Self.ofAddress)] } ?? [])
        guard places.admits(holders), let place = place(for: holders) else {
            refused("too_many_reports")
            throw Self.tooMany
        }
        return state.withLock { state in
            state.next += 1
            state.arriving[state.next] = (body, place)
            return state.next
        }
    }

    /// Frees the place `number`.
    func release(_ number: Int) {
        let place = state.withLock { $0.arriving.removeValue(forKey: number)?.place }
        place?.release()
    }

    /// The answer to a report that has no place, or that gave way.
    static let tooMany = Problem.unavailable("too many reports arrive at the same time")

    private func place(for holders: [OpenPlaces.Holder]) -> OpenPlace? {
        if let place = places.take(holders) { return place }
        let oldest = state.withLock { state in
            state.arriving.keys.min().flatMap { state.arriving.removeValue(forKey: $0) }
        }
        guard let oldest else { return nil }
        refused("too_many_reports")
        oldest.place.release()
        oldest.body.fail(GaveWay())
        return places.take(holders)
    }

    /// The user over all apps. Users of two issuers differ, although their ids may be the same.
    private static func user(of asker: Asker) -> String {
        for caller in asker.callers {
            if case .user(let issuer, let user) = caller { return "\(issuer)\n\(user)" }
        }
        return String(decoding: asker.subject.key(app: ""), as: UTF8.self)
    }
}
