import Synchronization

/// Limits on open places: in all, and for each holder.
public final class OpenPlaces: Sendable {
    /// A holder of places, with the limit on its places.
    public struct Holder: Sendable, Hashable {
        fileprivate let name: Fingerprint
        fileprivate let most: Int

        /// - Parameter kind: sets holders of one name apart, as users and addresses.
        public init(_ kind: String, _ name: String, most: Int) {
            self.name = Fingerprint(kind, name)
            self.most = most
        }
    }

    private let most: Int
    private let taken = Mutex<(all: Int, held: [Fingerprint: Int])>((0, [:]))

    /// `most` places in all.
    public init(most: Int) { self.most = most }

    /// The number of places in use.
    public var count: Int { taken.withLock { $0.all } }

    /// Returns whether each of `holders` may have one more place, however many are left in all.
    public func admits(_ holders: [Holder]) -> Bool {
        taken.withLock { taken in holders.allSatisfy { taken.held[$0.name, default: 0] < $0.most } }
    }

    /// Takes a place for all of `holders` together.
    ///
    /// - Returns: the place, which is free again when the value is gone; nil where none is left in all, or for one of
    ///   them.
    public func take(_ holders: [Holder]) -> OpenPlace? {
        let isFree = taken.withLock { taken in
            guard taken.all < most, holders.allSatisfy({ taken.held[$0.name, default: 0] < $0.most }) else {
                return false
            }
            taken.all += 1
            for holder in holders { taken.held[holder.name, default: 0] += 1 }
            return true
        }
        return isFree ? OpenPlace(holders, of: self) : nil
    }

    fileprivate func free(_ holders: [Holder]) {
        taken.withLock { taken in
            taken.all -= 1
            for holder in holders {
                guard let count = taken.held[holder.name] else { continue }
                taken.held[holder.name] = count > 1 ? count - 1 : nil
            }
        }
    }
}

/// A place that is taken until it is released, at the latest when the value is gone: whatever becomes of a connection or a stream, its
/// place is free again.
public final class OpenPlace: Sendable {
    private let isTaken = Atomic(true)
    private let holders: [OpenPlaces.Holder]
    private let places: OpenPlaces

    fileprivate init(_ holders: [OpenPlaces.Holder], of places: OpenPlaces) {
        (self.holders, self.places) = (holders, places)
    }

    deinit { release() }

    /// Frees the place, once.
    public func release() {
        if isTaken.exchange(false, ordering: .acquiringAndReleasing) { places.free(holders) }
    }
}
