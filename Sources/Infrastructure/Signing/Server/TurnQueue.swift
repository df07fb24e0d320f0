/// The order of turns, as a value: users take turns, and each user's connections do; on one connection, the first to
/// come is first.
struct TurnQueue<Element> {
    /// The user and the connection whose turn it is.
    struct Owner: Hashable, Sendable {
        let user: UInt32
        let connection: Int
    }

    private struct UserQueue {
        var connections: [Int] = []
        var waiting: [Int: [Element]] = [:]

        mutating func pop() -> Element? {
            guard let connection = connections.first, var rest = waiting.removeValue(forKey: connection) else {
                return nil
            }
            connections.removeFirst()
            let element = rest.isEmpty ? nil : rest.removeFirst()
            if !rest.isEmpty {
                connections.append(connection)
                waiting[connection] = rest
            }
            return element
        }
    }

    private var users: [UInt32] = []
    private var queues: [UInt32: UserQueue] = [:]

    /// The number of waiting elements.
    var count: Int { queues.values.reduce(0) { $0 + $1.waiting.values.reduce(0) { $0 + $1.count } } }

    /// Appends `element` behind the others of its owner.
    mutating func push(_ element: Element, of owner: Owner) {
        if queues[owner.user] == nil { users.append(owner.user) }
        var queue = queues.removeValue(forKey: owner.user) ?? UserQueue()
        if queue.waiting[owner.connection] == nil { queue.connections.append(owner.connection) }
        queue.waiting[owner.connection, default: []].append(element)
        queues[owner.user] = queue
    }

    /// Removes and returns the next element. Each owner's next element comes after one of every other owner.
    mutating func pop() -> Element? {
        guard let user = users.first, var queue = queues.removeValue(forKey: user) else { return nil }
        users.removeFirst()
        let element = queue.pop()
        if !queue.connections.isEmpty {
            users.append(user)
            queues[user] = queue
        }
        return element
    }
}
