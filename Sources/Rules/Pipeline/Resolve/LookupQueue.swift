import AdapterKit
import DequeModule

/// A user to ask the vendor about.
struct Question: Sendable {
    let id: SubjectID
    let subject: Subject
    let askedAt: UnixTime
    /// The number of failed attempts.
    var tries = 0
}

/// The questions of one account, by app, in the order of their arrival. Failed ones wait for their next attempt.
struct LookupQueue: Sendable {
    private struct Line: Sendable {
        let app: App
        var questions: Deque<Question> = []
        var later: Deque<(moment: UnixTime, question: Question)> = []

        var count: Int { questions.count + later.count }
    }

    private var lines: [Line] = []
    private var next = 0
    private(set) var count = 0

    mutating func append(_ question: Question, of app: App) {
        count += 1
        lines[line(of: app)].questions.append(question)
    }

    /// Removes the oldest question of the app with the most questions. So an app that fills the queue with invalid
    /// users displaces only its own. Questions that wait for a retry count too, and are removed last.
    ///
    /// - Parameter prepared: the number of each app's questions in requests that are not sent yet.
    mutating func shedOldest(beside prepared: [String: Int] = [:]) -> Question? {
        func count(_ line: Line) -> Int { line.count + prepared[line.app.name, default: 0] }
        guard let longest = lines.indices.max(by: { count(lines[$0]) < count(lines[$1]) }),
            let oldest = lines[longest].questions.popFirst() ?? lines[longest].later.popFirst()?.question
        else { return nil }
        self.count -= 1
        return oldest
    }

    /// Removes the questions of apps for which `isGone` returns true.
    ///
    /// - Returns: the users of those questions.
    mutating func drop(of isGone: (App) -> Bool) -> [SubjectID] {
        let dropped = lines.filter { isGone($0.app) }.flatMap { line in
            line.questions.map(\.id) + line.later.map(\.question.id)
        }
        lines.removeAll { isGone($0.app) }
        count -= dropped.count
        next = 0
        return dropped
    }

    /// Puts questions back at the front, in their order.
    mutating func putBack(_ questions: [Question], of app: App) {
        count += questions.count
        lines[line(of: app)].questions.prepend(contentsOf: questions)
    }

    /// Queues a retry of a question, not before `moment`.
    mutating func retry(_ question: Question, of app: App, at moment: UnixTime) {
        count += 1
        lines[line(of: app)].later.append((moment, question))
    }

    /// The next questions to ask.
    enum Offer {
        case questions([Question], of: App)
        /// Wait until this time.
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
        for step in lines.indices {
            let index = (next + step) % lines.count
            wake(index, at: now)
            let count = lines[index].questions.count
            if let askedAt = lines[index].questions.first?.askedAt {
                let ready = max(askedAt.advanced(byMicroseconds: count == 1 ? alone : several), turn)
                // A clock that was set back must not delay a request.
                if count >= batch || ready <= now || askedAt > now { return take(batch, index) }
                moment = min(moment ?? ready, ready)
            }
            if let soonest = lines[index].later.lazy.map(\.moment).min() { moment = min(moment ?? soonest, soonest) }
        }
        return moment.map(Offer.wait) ?? .nothing
    }

    private mutating func take(_ batch: Int, _ index: Int) -> Offer {
        let taken = Array(lines[index].questions.prefix(batch))
        lines[index].questions.removeFirst(taken.count)
        count -= taken.count
        next = (index + 1) % lines.count
        return .questions(taken, of: lines[index].app)
    }

    private mutating func wake(_ index: Int, at now: UnixTime) {
        guard lines[index].later.contains(where: { $0.moment <= now }) else { return }
        let due = lines[index].later.filter { $0.moment <= now }.map(\.question)
        lines[index].later.removeAll { $0.moment <= now }
        lines[index].questions.prepend(contentsOf: due)
    }

    private mutating func line(of app: App) -> Int {
        if let index = lines.firstIndex(where: { $0.app.name == app.name }) { return index }
        lines.append(Line(app: app))
        return lines.count - 1
    }
}
