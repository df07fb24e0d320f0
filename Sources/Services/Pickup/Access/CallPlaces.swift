import Access
import AdapterKit
import Formats
import HTTPTypes
import Serving
import WorkerConfiguration

/// Limits on calls that last: in all, per user and per address.
///
/// Streams and waiting calls together have at most three quarters of all connections, so that calls that end at once
/// always find one. Where these places are taken, the holder with most gives one to a holder with fewer. An arriving
/// report takes up to 64 kB until its event is made, and a slow caller has half a minute; where all their places are
/// taken, a report gives way to the next one.
struct CallPlaces: Sendable {
    enum Kind: String, Sendable {
        case stream
        case wait
        case report
    }

    /// The most arriving reports: in all, of a user over all apps, and of an address (for IPv6, a /64).
    static let reports = (most: 512, ofUser: 16, ofAddress: 64)

    private let pickup: Configuration.Pickup
    private let held: Places
    private let arriving = Places(most: reports.most)
    /// Called with the reason of each refusal.
    private let refused: @Sendable (String) -> Void

    /// - Parameter connections: the number of connections that may be open.
    init(
        _ pickup: Configuration.Pickup, connections: Int, refused: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.pickup = pickup
        held = Places(most: max(1, connections / 4 * 3), isShared: true)
        self.refused = refused
    }

    /// Takes a place for a call of `asker`'s user of the app `app`.
    ///
    /// - Parameter end: ends the call, called with its answer where it gives way.
    /// - Throws: `Problem` where too many are open.
    func take(
        _ kind: Kind, _ asker: Asker, _ app: String, from address: IPAddress?,
        _ end: @escaping @Sendable (Problem) -> Void
    ) throws(Problem) -> Place {
        let places = kind == .report ? arriving : held
        guard let place = places.take(holders(kind, asker, app, address)) else {
            refused(kind.reason)
            throw kind.problem
        }
        place.giveWay { [refused] in
            refused(kind.reason)
            end(kind.problem)
        }
        return place
    }

    /// The holders; the first one is the user over all apps, for whoever has most.
    private func holders(
        _ kind: Kind, _ asker: Asker, _ app: String, _ address: IPAddress?
    ) -> [Places.Holder] {
        let network = address?.network.description
        let user = Places.Holder("user", asker.user, most: kind == .report ? Self.reports.ofUser : .max)
        func ofAddress(_ most: Int) -> [Places.Holder] {
            network.map { [.init("\(kind) address", $0, most: most)] } ?? []
        }
        guard kind != .report else { return [user] + ofAddress(Self.reports.ofAddress) }
        let subject = String(decoding: asker.subject.key(app: app), as: UTF8.self)
        var holders =
            [user, .init("\(kind) user", subject, most: pickup.userStreams)] + ofAddress(pickup.addressStreams)
        guard kind == .stream else { return holders }
        holders.append(.init("streams", "", most: pickup.streams))
        // A device that changed its network opens a new stream before anybody notices the end of its old one.
        if let device = asker.device { holders.append(.init(subject, device, renews: true)) }
        return holders
    }
}

extension CallPlaces.Kind {
    fileprivate var reason: String { "too_many_\(rawValue)s" }

    /// The answer to a call that has no place, or that gave way.
    fileprivate var problem: Problem {
        switch self {
        case .stream: Problem(.tooManyRequests, reason, "too many streams are open", retryAfter: 5)
        case .wait: Problem(.tooManyRequests, reason, "too many calls wait", retryAfter: 5)
        case .report: Problem.unavailable("too many reports arrive at the same time")
        }
    }
}

/// The number of connections that may be open at once: `pickup.connections`, or what the limit of open files allows
/// where the configuration leaves the number at its default.
struct ConnectionLimit: Sendable, Equatable {
    /// The smallest number that a gateway starts with.
    private static let least = 64

    private let wanted: Int
    private let files: OpenFiles

    init(_ pickup: Configuration.Pickup, _ files: OpenFiles) {
        wanted = pickup.connections
        self.files = files
    }

    var connections: Int { min(wanted, files.connections) }

    /// The number of connections that are accepted before others have to wait: those above `connections` are closed at
    /// once, which takes a moment.
    var accepted: Int { connections + OpenFiles.closing }

    /// The reason why the gateway cannot start, in a line; nil where it can.
    var problem: String? {
        let isDefault = wanted == Configuration.Pickup().connections
        return isDefault
            ? files.problem(Self.least, for: "pickup")
            : files.problem(wanted, for: "pickup.connections: \(wanted)")
    }
}
