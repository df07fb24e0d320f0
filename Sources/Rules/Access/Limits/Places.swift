import Synchronization

/// Limits on what callers hold for long: connections, waiting calls and streams, arriving reports. There is one in all,
/// and one for each holder.
///
/// If no place is left, a new one is taken from a place that may give way: a stranger's before a known caller's, of
/// these the one whose first holder has most, of these the oldest. Of very many, 128 are compared, so that a crowd at the
/// door costs no more than a caller.
public final class Places: Sendable {
    /// A holder of places, with the limit on its places.
    public struct Holder: Sendable, Hashable {
        fileprivate let name: Fingerprint
        fileprivate let most: Int
        fileprivate let renews: Bool

        /// - Parameters:
        ///   - kind: sets holders of one name apart, as users and addresses.
        ///   - most: the limit; by default there is none.
        ///   - renews: whether, at a limit, a new place takes that of this holder's oldest one.
        public init(_ kind: String, _ name: String, most: Int = .max, renews: Bool = false) {
            self.name = Fingerprint(kind, name)
            (self.most, self.renews) = (most, renews)
        }
    }

    /// A place that may give way.
    private struct Entry {
        let number: Int
        let turn: Int
        let holder: Fingerprint?
        let end: @Sendable () -> Void
    }

    private struct Line {
        private static let looks = 128

        private var entries: [Entry] = []
        private var indices: [Int: Int] = [:]
        private var hand = 0

        var count: Int { entries.count }

        func entry(_ number: Int) -> Entry? { indices[number].map { entries[$0] } }

        mutating func add(_ entry: Entry) {
            indices[entry.number] = entries.count
            entries.append(entry)
        }

        mutating func remove(_ number: Int) {
            guard let index = indices.removeValue(forKey: number), let last = entries.popLast(), last.number != number
            else { return }
            entries[index] = last
            indices[last.number] = index
        }

        /// Returns the place that gives way first, with the number of its holder's places.
        ///
        /// - Parameter least: the number of places that the holder must have; more are compared until one has it.
        mutating func first(_ held: [Fingerprint: Int], least: Int) -> (entry: Entry, count: Int)? {
            var found: (entry: Entry, count: Int)?
            var looks = 0
            while looks < entries.count, looks < Self.looks || (found?.count ?? 0) < least {
                looks += 1
                if hand >= entries.count { hand = 0 }
                let entry = entries[hand]
                hand += 1
                let count = entry.holder.flatMap { held[$0] } ?? 1
                if found.map({ (count, $0.entry.turn) > ($0.count, entry.turn) }) ?? true { found = (entry, count) }
            }
            return found
        }
    }

    private struct State {
        /// The holders of each place, by the place's number.
        var taken: [Int: [Holder]] = [:]
        var held: [Fingerprint: Int] = [:]
        /// The number of first holders with each number of places, and the highest of these numbers.
        private var sizes: [Int: Int] = [:]
        private(set) var largest = 0
        /// The places of each holder whose older places a new one takes, from the oldest.
        private var renewed: [Fingerprint: [Int]] = [:]
        var (strangers, known) = (Line(), Line())
        var next = 0
        var turn = 0

        func admits(_ holders: [Holder]) -> Bool { holders.allSatisfy { held[$0.name, default: 0] < $0.most } }

        mutating func take(_ holders: [Holder]) -> Int {
            next += 1
            taken[next] = holders
            for holder in holders {
                held[holder.name, default: 0] += 1
                if holder.renews { renewed[holder.name, default: []].append(next) }
            }
            resize(holders, by: 1)
            return next
        }

        /// Notes that the first of `holders` has `change` places more.
        private mutating func resize(_ holders: [Holder], by change: Int) {
            guard let first = holders.first else { return }
            let now = held[first.name] ?? 0
            for (size, count) in [(now, 1), (now - change, -1)] where size > 0 {
                let left = (sizes[size] ?? 0) + count
                sizes[size] = left > 0 ? left : nil
            }
            largest = max(largest, now)
            while largest > 0, sizes[largest] == nil { largest -= 1 }
        }

        mutating func keep(_ number: Int) {
            strangers.remove(number)
            known.remove(number)
        }

        mutating func free(_ number: Int) {
            keep(number)
            guard let holders = taken.removeValue(forKey: number) else { return }
            for holder in holders {
                guard let count = held[holder.name] else { continue }
                held[holder.name] = count > 1 ? count - 1 : nil
                guard holder.renews else { continue }
                renewed[holder.name]?.removeAll { $0 == number }
                if count == 1 { renewed[holder.name] = nil }
            }
            resize(holders, by: -1)
        }

        /// Frees the oldest place that gives way to a new one of the same holder.
        ///
        /// - Returns: its end; nil where there is none.
        mutating func renew(_ holders: [Holder]) -> (@Sendable () -> Void)? {
            for holder in holders where holder.renews {
                for number in renewed[holder.name] ?? [] {
                    guard let entry = known.entry(number) ?? strangers.entry(number) else { continue }
                    free(number)
                    return entry.end
                }
            }
            return nil
        }

        /// Returns the place that gives way first. A stranger among the last quarter of all that came is as good as a
        /// known caller: its request may be on its way.
        mutating func first(of most: Int, least: Int) -> (entry: Entry, count: Int)? {
            guard let stranger = strangers.first(held, least: least) else { return known.first(held, least: least) }
            guard next - stranger.entry.number < most / 4 else { return stranger }
            return known.first(held, least: least) ?? stranger
        }
    }

    private let most: Int
    /// Whether a place is taken from a holder only for one that then has no more places than it.
    private let isShared: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: the number of places in all.
    ///   - isShared: whether a place gives way only to a holder with fewer places.
    public init(most: Int, isShared: Bool = false) { (self.most, self.isShared) = (most, isShared) }

    /// The number of places in use.
    public var count: Int { state.withLock { $0.taken.count } }

    /// The number of places that may give way.
    public var yielding: Int { state.withLock { $0.strangers.count + $0.known.count } }

    /// Returns whether each of `holders` may have one more place, however many are left in all.
    public func admits(_ holders: [Holder]) -> Bool { state.withLock { $0.admits(holders) } }

    /// Takes a place for all of `holders` together.
    ///
    /// - Returns: the place, which is free again when the value is gone; nil where none is left for one of them, or none
    ///   is left in all and nobody gives way.
    public func take(_ holders: [Holder]) -> Place? {
        let (number, end) = state.withLock { state -> (Int?, (@Sendable () -> Void)?) in
            if !state.admits(holders) {
                let end = state.renew(holders)
                return (state.admits(holders) && state.taken.count < most ? state.take(holders) : nil, end)
            }
            guard state.taken.count >= most else { return (state.take(holders), nil) }
            let least = isShared ? (holders.first.flatMap { state.held[$0.name] } ?? 0) + 2 : 0
            guard !isShared || state.largest >= least, let first = state.first(of: most, least: least),
                first.count >= least
            else { return (nil, nil) }
            state.free(first.entry.number)
            return (state.take(holders), first.entry.end)
        }
        end?()
        return number.map { Place($0, of: self) }
    }

    fileprivate func free(_ number: Int) { state.withLock { $0.free(number) } }

    fileprivate func keep(_ number: Int) { state.withLock { $0.keep(number) } }

    fileprivate func giveWay(_ number: Int, isKnown: Bool, _ end: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard let holders = state.taken[number] else { return }
            state.turn += 1
            state.keep(number)
            let entry = Entry(number: number, turn: state.turn, holder: holders.first?.name, end: end)
            if isKnown { state.known.add(entry) } else { state.strangers.add(entry) }
        }
    }
}

/// A place that is taken until it is released, at the latest when the value is gone: whatever becomes of a connection or
/// a stream, its place is free again.
public final class Place: Sendable {
    private let number: Int
    private let places: Places

    fileprivate init(_ number: Int, of places: Places) { (self.number, self.places) = (number, places) }

    deinit { release() }

    /// Frees the place, once.
    public func release() { places.free(number) }

    /// Lets another holder have the place from now on.
    ///
    /// - Parameters:
    ///   - isKnown: whether a known caller has it, who gives way after strangers.
    ///   - end: called, once and on any thread, when another one has taken it.
    public func giveWay(isKnown: Bool = false, _ end: @escaping @Sendable () -> Void) {
        places.giveWay(number, isKnown: isKnown, end)
    }

    /// Does not give way any more.
    public func keep() { places.keep(number) }
}
