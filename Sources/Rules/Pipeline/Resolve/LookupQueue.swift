import AdapterKit
import DequeModule

/// A user to ask the vendor about.
struct Question: Sendable {
    let id: SubjectID
    let subject: Subject
    let askedAt: UnixTime
    var tries = 0
}

/// The questions of one account, by app, in the order of their arrival. Failed ones wait for their next attempt.
struct LookupQueue: Sendable {
    private struct AppQueue: Sendable {
        let app: App
        var questions: Deque<Question> = []
        var later: Deque<(moment: UnixTime, question: Question)> = []

        var count: Int { questions.count + later.count }
    }

    private var queues: [AppQueue] = []
    private var next = 0
    private(set) var count = 0

    mutating func append(_ question: Question, of app: App) {
        count += 1
        queues[index(of: app)].questions.append(question)
    }

    /// Removes the oldest question of the app with the most questions. So an app that fills the queue with invalid
    /// users displaces only its own. Questions that wait for a retry count too, and are removed last.
    ///
    /// - Parameter prepared: the number of each app's questions in requests that are not sent yet.
    mutating func shedOldest(beside prepared: [String: Int] = [:]) -> Question? {
        func count(_ queue: AppQueue) -> Int { queue.count + prepared[queue.app.name, default: 0] }
        guard let longest = queues.indices.max(by: { count(queues[$0]) < count(queues[$1]) }),
            let oldest = queues[longest].questions.popFirst() ?? queues[longest].later.popFirst()?.question
        else { return nil }
        self.count -= 1
        return oldest
    }

    /// Removes the questions of apps for which `isGone` returns true.
    ///
    /// - Returns: the users of those questions.
    mutating func drop(of isGone: (App) -> Bool) -> [SubjectID] {
        let dropped = queues.filter { isGone($0.app) }.flatMap { queue in
            queue.questions.map(\.id) + queue.later.map(\.question.id)
        }
        queues.removeAll { isGone($0.app) }
        count -= dropped.count
        next = 0
        return dropped
    }

    /// Puts questions back at the front, in their order.
    mutating func putBack(_ questions: [Question], of app: App) {
        count += questions.count
        queues[index(of: app)].questions.prepend(contentsOf: questions)
    }

    /// Queues a retry of a question, not before `moment`.
    mutating func retry(_ question: Question, of app: App, at moment: UnixTime) {
        count += 1
        queues[index(of: app)].later.append((moment, question))
    }

    /// The next questions to ask.
    enum Offer {
        case questions([Question], of: App)
        case wait(until: UnixTime)
        case nothing
    }

    /// Returns the questions of the next request, in turn from each app. A request that is not full waits for more
    /// users: `alone` microseconds for one user and `several` for more. It also waits for `turn`, its turn at the
    /// steady rate, because full requests are first.
    mutating func take(
        _ batch: Int, at now: UnixTime, alone: Int64, several: Int64, turn: UnixTime
    ) -> Offer {
        var moment: UnixTime?
        for step in queues.indices {
            let index = (next + step) % queues.count
            wake(index, at: now)
            let count = queues[index].questions.count
            if let askedAt = queues[index].questions.first?.askedAt {
                let ready = max(askedAt.advanced(byMicroseconds: count == 1 ? alone : several), turn)
                // A clock that was set back must not delay a request.
                if count >= batch || ready <= now || askedAt > now { return take(batch, index) }
                moment = min(moment ?? ready, ready)
            }
            if let soonest = queues[index].later.lazy.map(\.moment).min() { moment = min(moment ?? soonest, soonest) }
        }
        return moment.map(Offer.wait) ?? .nothing
    }

    private mutating func take(_ batch: Int, _ index: Int) -> Offer {
        let taken = Array(queues[index].questions.prefix(batch))
        queues[index].questions.removeFirst(taken.count)
        count -= taken.count
        next = (index + 1) % queues.count
        return .questions(taken, of: queues[index].app)
    }

    private mutating func wake(_ index: Int, at now: UnixTime) {
        guard queues[index].later.contains(where: { $0.moment <= now }) else { return }
        let due = queues[index].later.filter { $0.moment <= now }.map(\.question)
        queues[index].later.removeAll { $0.moment <= now }
        queues[index].questions.prepend(contentsOf: due)
    }

    private mutating func index(of app: App) -> Int {
        if let index = queues.firstIndex(where: { $0.app.name == app.name }) { return index }
        queues.append(AppQueue(app: app))
        return queues.count - 1
    }
}
