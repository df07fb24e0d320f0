/// A signer's connections, as a value: their users, and the decisions to admit and to close them.
///
/// A silent connection costs no other one its place: where a new one would exceed a limit, the one that has been silent
/// for longest is closed. The table knows no sockets, and is given the time, as the signer's uptime.
struct ConnectionTable {
    /// The largest number of connections, and the longest times for which one may be silent.
    struct Limits: Sendable {
        /// The maximum number of connections.
        var total = 64
        /// The maximum number of connections of one user.
        var perUser = 16
        /// The longest silence before the first question.
        var handshake = Duration.seconds(30)
        /// The longest silence between two questions. A worker asks for the keys every second.
        var idle = Duration.seconds(300)
    }

    /// The decision on a new connection.
    enum Admission: Equatable {
        /// The connection is admitted with this number, in place of another one where one is named.
        case admitted(Int, insteadOf: Int?)
        /// The connection is closed.
        case refused(SignerClosing)
    }

    private struct Entry {
        let user: UInt32
        /// The time at which the connection last did anything: a question came, an answer was found, an answer was
        /// taken.
        var heard: Duration
        var hasAsked = false
        /// Questions the signer works on.
        var open = 0

        /// Returns the connection's rank among those to close. The lowest goes first: connections that never asked, and
        /// of these the oldest.
        func rank(_ number: Int) -> (Int, Duration, Int) { (hasAsked ? 1 : 0, heard, number) }
    }

    private let limits: Limits
    private let allowed: Set<UInt32>
    private var entries: [Int: Entry] = [:]
    private var lastNumber = 0

    /// A table without connections, for the users of `allowed`.
    init(allowing allowed: Set<UInt32>, limits: Limits) {
        self.allowed = allowed
        self.limits = limits
    }

    /// The number of connections.
    var count: Int { entries.count }

    /// Decides on a new connection of `user`.
    mutating func admit(_ user: UInt32, at now: Duration) -> Admission {
        guard allowed.contains(user) else { return .refused(.accountNotAllowed) }
        var shed: Int?
        if entries.values.count(where: { $0.user == user }) >= limits.perUser {
            shed = silentLongest { $0 == user }
            guard shed != nil else { return .refused(.full) }
        } else if entries.count >= limits.total {
            // The user with the most connections gives way.
            let shares = Dictionary(grouping: entries.values, by: \.user).mapValues(\.count)
            let largest = shares.values.max() ?? 0
            shed = silentLongest { shares[$0] == largest }
            guard shed != nil else { return .refused(.full) }
        }
        if let shed { entries[shed] = nil }
        lastNumber += 1
        entries[lastNumber] = Entry(user: user, heard: now)
        return .admitted(lastNumber, insteadOf: shed)
    }

    /// Notes that a whole question arrived.
    mutating func asked(_ number: Int, at now: Duration) {
        entries[number]?.heard = now
        entries[number]?.hasAsked = true
        entries[number]?.open += 1
    }

    /// Notes that the signer has an answer; from now on the table waits for the peer.
    mutating func answered(_ number: Int, at now: Duration) {
        entries[number]?.heard = now
        entries[number]?.open -= 1
    }

    /// Notes that the peer took an answer.
    mutating func delivered(_ number: Int, at now: Duration) { entries[number]?.heard = now }

    /// Notes that the connection is closed.
    mutating func left(_ number: Int) { entries[number] = nil }

    /// Removes and returns the connections that were silent for too long.
    mutating func takeOverdue(at now: Duration) -> [Int] {
        let overdue = entries.filter { _, entry in
            entry.open == 0 && now - entry.heard >= (entry.hasAsked ? limits.idle : limits.handshake)
        }.keys.sorted()
        for number in overdue { entries[number] = nil }
        return overdue
    }

    private func silentLongest(_ isCandidate: (UInt32) -> Bool) -> Int? {
        entries.filter { $0.value.open == 0 && isCandidate($0.value.user) }
            .min { $0.value.rank($0.key) < $1.value.rank($1.key) }?.key
    }
}
