import Pipeline
import Synchronization

/// How many events ended how, since the worker started.
final class Counters: Sendable {
    struct Totals: Sendable {
        var minted = 0
        var skipped = 0
        var deadLettered = 0
    }

    private let totals = Mutex(Totals())

    var current: Totals { totals.withLock { $0 } }

    func count(_ settlements: [Settlement]) {
        totals.withLock { totals in
            for settlement in settlements {
                switch settlement.outcome {
                case .minted: totals.minted += 1
                case .skipped: totals.skipped += 1
                case .deadLettered: totals.deadLettered += 1
                }
            }
        }
    }
}
