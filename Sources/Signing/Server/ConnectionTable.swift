/// A signer's connections, as a value: whose they are, which may come, and which must go.
///
/// One that is silent costs nobody else a place: where a new one would be too many, the one that has been silent for longest makes
/// room. Knows no sockets, and time only as what it is told: how long the signer has run.
struct ConnectionTable {
    /// The largest number of connections, and the longest times for which one may be silent.
    struct Limits: Sendable {
        /// The most at once.
        var total = 64
        /// The most of one user.
        var perUser = 16
        /// Until the first question.
        var handshake = Duration.seconds(30)
        /// Between two questions. A worker asks for the keys every second.
        var idle = Duration.seconds(300)
    }

    /// The decision on a new connection.
    enum Admission: Equatable {
        /// It has this number, and takes the place of another where one is named.
        case admitted(Int, insteadOf: Int?)
        /// It is closed.
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

    /// A connection of `user` came.
    mutating func admit(_ user: UInt32, at now: Duration) -> Admission {
        guard allowed.contains(user) else { return .refused(.accountNotAllowed) }
        var shed: Int?
        if entries.values.count(where: { $0.user == user }) >= limits.perUser {
            shed = silentLongest { $0 == user }
            guard shed != nil else { return .refused(.full) }
        } else if entries.count >= limits.total {
            // Whoever has most gives way.
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

    /// A whole question came.
    mutating func asked(_ number: Int, at now: Duration) {
        entries[number]?.heard = now
        entries[number]?.hasAsked = true
        entries[number]?.open += 1
    }

    /// The signer has an answer; from now on it is the peer who is waited for.
    mutating func answered(_ number: Int, at now: Duration) {
        entries[number]?.heard = now
        entries[number]?.open -= 1
    }

    /// The peer took an answer.
    mutating func delivered(_ number: Int, at now: Duration) { entries[number]?.heard = now }

    /// The connection has ended.
    mutating func left(_ number: Int) { entries[number] = nil }

    /// Those that were silent for too long; they are none of the table's any more.
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
