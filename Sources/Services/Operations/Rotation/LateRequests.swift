import AdapterKit
import Pipeline

/// The requests of a canary's users that arrived behind the marks at which the canary was answered, by the users' places.
///
/// Offsets decide that, not clocks. A worker compares the time of a report with that of the user's token. If the clock
/// of the reporting device is behind, or the report comes within moments of the token, the worker takes it for one that
/// the token answers, and no record mentions it. To a canary such a report is a refusal: by the time it arrived, its
/// user had got the token.
struct LateRequests: Sendable {
    /// The number of reports that are kept of a user: whoever sends more of them has refused.
    private static let most = 64

    /// The earliest time at which a user's event got no token, in seconds since 1970.
    private(set) var requests: [Int: Int64] = [:]
    private var reports: [Int: [DeviceReport]] = [:]
    /// The ids of the events that got a token.
    private var answered: Set<String> = []

    /// Notes that an event of the user at `place` got no token at `time`.
    mutating func request(of place: Int, at time: Int64) { requests[place] = min(requests[place] ?? .max, time) }

    /// Notes a report of the user at `place`.
    mutating func report(_ report: DeviceReport, of place: Int) {
        if reports[place]?.count ?? 0 < Self.most { reports[place, default: []].append(report) }
    }

    /// Notes that the event `id` got a token of its own, which is judged instead of the report.
    mutating func answered(_ id: String) { answered.insert(id) }

    /// Returns whether a report of the user at `place` refuses `token` and got no token: one that names a token of the new version,
    /// or none, from before the end of the first one.
    ///
    /// A worker compares no clocks where a report names the newest token. One that names another token than those of the new
    /// version does not refuse these.
    func hasReport(of place: Int, against token: CanaryTally.Newest) -> Bool {
        reports[place]?.contains { report in
            guard !answered.contains(report.eventID), report.failedToken.map(token.hashes.contains) ?? true else {
                return false
            }
            return report.producedAt.map { $0.seconds < token.firstEnd } ?? true
        } ?? false
    }
}

extension CanaryTally.Newest {
    /// The number of tokens of a user that are remembered by their hashes.
    private static let most = 16

    /// The newest one, `token`, after `last`.
    init(_ token: PublishedToken, after last: Self?) {
        self.init(
            eventID: token.eventID, issuedAt: token.issuedAt, end: token.expiresAt,
            firstEnd: last?.firstEnd ?? token.expiresAt,
            hashes: (last?.hashes ?? []).suffix(Self.most - 1) + [TokenHash(of: token.token.utf8).prefix])
    }
}
