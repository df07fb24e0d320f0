import AdapterKit

extension StatusReport {
    struct Recent: Sendable, Equatable {
        /// Finished events, and the tokens and dead letters among them.
        struct Tally: Sendable, Equatable {
            var ended = 0
            /// Events that got a token.
            var minted = 0
            var deadLettered = 0

            /// Adds `count` events with the outcome called `outcome`.
            mutating func add(_ count: Int, _ outcome: String) {
                ended += count
                if outcome == "minted" { minted += count }
                if outcome == "dead_lettered" { deadLettered += count }
            }
        }

        /// A tally and the time in which it grew.
        struct Window: Sendable, Equatable {
            /// The length in seconds; shorter than its name right after the start, 0 before the first snapshot.
            var seconds = 0.0
            var tally = Tally()

            /// Adds `count` events with the outcome called `outcome`.
            mutating func add(_ count: Int, _ outcome: String) { tally.add(count, outcome) }
        }

        /// Tallies of equal times, the oldest first.
        struct Series: Sendable, Equatable {
            var ended: [Int] = []
            /// Events that got a token.
            var minted: [Int] = []
            var deadLettered: [Int] = []
        }

        struct App: Sendable, Equatable {
            var minute = Tally()
            /// The events of the last 15 minutes.
            var quarterHour = Tally()
            /// The dead letters of the last hour, by code.
            var deadLetters: [String: Int] = [:]
            /// The events of the last minute with the code `mint_failed`: no token could be made or published.
            var mintFailed = 0

            /// Adds the growth of a count in the last minute, quarter of an hour and hour.
            mutating func add(_ grown: [Int], _ outcome: String, _ code: String) {
                minute.add(grown[0], outcome)
                quarterHour.add(grown[1], outcome)
                if code == ErrorCode.mintFailed.rawValue { mintFailed += grown[0] }
                if outcome == "dead_lettered" { deadLetters[code, default: 0] += grown[2] }
            }

            /// Adds the events of `other`.
            mutating func add(_ other: App) {
                minute.add(other.minute)
                quarterHour.add(other.quarterHour)
                mintFailed += other.mintFailed
                deadLetters.merge(other.deadLetters, uniquingKeysWith: +)
            }
        }

        var minute = Window()
        /// The last 15 minutes.
        var quarterHour = Window()
        var hour = Window()
        /// The minutes of the last hour. The last one is not over.
        var byMinute = Series()
        /// The dead letters of the last hour, by code.
        var deadLetters: [String: Int] = [:]
        /// The apps that had events, by name. The name is empty for events of no configured app.
        var apps: [String: App] = [:]
    }
}

extension StatusReport.Recent.Tally {
    fileprivate mutating func add(_ other: Self) {
        ended += other.ended
        minted += other.minted
        deadLettered += other.deadLettered
    }
}
