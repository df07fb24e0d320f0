import Foundation
import Synchronization

@testable import Keyring

/// A disk whose steps have chosen outcomes.
final class Faults: Sendable {
    private let outcome: Disk.Outcome
    private let step: Disk.Step?
    private let first: Int
    private let last: Int
    private let count = Mutex(0)

    /// The first `times` steps of one kind have `outcome`.
    init(_ outcome: Disk.Outcome, at step: Disk.Step, times: Int) {
        (self.outcome, self.step, first, last) = (outcome, step, 0, times - 1)
    }

    /// The steps from the `first`th to the `last`th have `outcome`.
    init(_ outcome: Disk.Outcome, from first: Int, through last: Int) {
        (self.outcome, step, self.first, self.last) = (outcome, nil, first, last)
    }

    var wereReached: Bool { count.withLock { $0 > first } }

    var disk: Disk {
        Disk { step in
            guard self.step == nil || self.step == step else { return .real }
            let number = self.count.withLock { count in
                defer { count += 1 }
                return count
            }
            return (self.first...self.last).contains(number) ? self.outcome : .real
        }
    }
}
