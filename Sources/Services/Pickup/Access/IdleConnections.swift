import Access
import DequeModule
import NIOCore
import Synchronization

/// The connections that wait for their clients, each with its place. They give way when no place is left: those of
/// strangers first, and of these the one that waits longest.
final class IdleConnections: Sendable {
    private struct Entry {
        let turn: Int
        let channel: any Channel
        let place: OpenPlace
    }

    /// Connections in the order in which they began to wait.
    private struct Line {
        private var entries: [ObjectIdentifier: Entry] = [:]
        /// Every entry's turn, and those of entries that are gone.
        private var order: Deque<(name: ObjectIdentifier, turn: Int)> = []

        var count: Int { entries.count }

        mutating func append(_ entry: Entry, as name: ObjectIdentifier) {
            entries[name] = entry
            order.append((name, entry.turn))
            if order.count > entries.count * 2 + 64 {
                order = Deque(order.filter { entries[$0.name]?.turn == $0.turn })
            }
        }

        mutating func remove(_ name: ObjectIdentifier) { entries[name] = nil }

        mutating func takeFirst() -> Entry? {
            while let (name, turn) = order.popFirst() {
                if let entry = entries[name], entry.turn == turn {
                    entries[name] = nil
                    return entry
                }
            }
            return nil
        }
    }

    private struct State {
        var strangers = Line()
        var known = Line()
        var turn = 0
    }

    private let state = Mutex(State())

    /// The number of connections that wait.
    var count: Int { state.withLock { $0.strangers.count + $0.known.count } }

    /// Notes that `channel` begins to wait for its client.
    ///
    /// - Parameter isKnown: whether a known caller was served there.
    func wait(_ channel: any Channel, _ place: OpenPlace, isKnown: Bool) {
        let name = ObjectIdentifier(channel)
        state.withLock { state in
            state.turn += 1
            let entry = Entry(turn: state.turn, channel: channel, place: place)
            state.strangers.remove(name)
            state.known.remove(name)
            if isKnown { state.known.append(entry, as: name) } else { state.strangers.append(entry, as: name) }
        }
    }

    /// Notes that `channel` has a request to answer, or is closed.
    func remove(_ channel: any Channel) {
        let name = ObjectIdentifier(channel)
        state.withLock { state in
            state.strangers.remove(name)
            state.known.remove(name)
        }
    }

    /// Closes the connection that gives way first, whose place is free at once.
    ///
    /// - Returns: whether there was one.
    func giveWay() -> Bool {
        let entry = state.withLock { state -> Entry? in
            if let stranger = state.strangers.takeFirst() { return stranger }
            return state.known.takeFirst()
        }
        guard let entry else { return false }
        entry.place.release()
        entry.channel.close(promise: nil)
        return true
    }
}
