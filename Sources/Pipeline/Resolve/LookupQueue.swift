import AdapterKit
import DequeModule

/// A user whom the vendor is to be asked about.
struct Question: Sendable {
    let id: SubjectID
    let subject: Subject
    let askedAt: UnixTime
    /// How often it was asked in vain.
    var tries = 0
}

/// The questions of one account, app by app, in the order they came; those that failed wait until their moment.
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

    /// Takes away the question that has waited longest, of the app that has the most: whoever fills the queue with users that
    /// are none pushes out its own. Questions that wait for another try count as much as the others, and go after them.
    ///
    /// - Parameter prepared: how many questions of each app stand in requests that were not sent yet.
    mutating func shedOldest(beside prepared: [String: Int] = [:]) -> Question? {
        func count(_ line: Line) -> Int { line.count + prepared[line.app.name, default: 0] }
        guard let longest = lines.indices.max(by: { count(lines[$0]) < count(lines[$1]) }),
            let oldest = lines[longest].questions.popFirst() ?? lines[longest].later.popFirst()?.question
        else { return nil }
        self.count -= 1
        return oldest
    }

    /// Takes out the questions of apps that `isGone` names.
    ///
    /// - Returns: whom they were about.
    mutating func drop(of isGone: (App) -> Bool) -> [SubjectID] {
        let dropped = lines.filter { isGone($0.app) }.flatMap { line in
            line.questions.map(\.id) + line.later.map(\.question.id)
        }
        lines.removeAll { isGone($0.app) }
        count -= dropped.count
        next = 0
        return dropped
    }

    /// Puts questions back in front, where they were.
    mutating func putBack(_ questions: [Question], of app: App) {
        count += questions.count
        lines[line(of: app)].questions.prepend(contentsOf: questions)
    }

    /// Asks again, not before `moment`.
    mutating func retry(_ question: Question, of app: App, at moment: UnixTime) {
        count += 1
        lines[line(of: app)].later.append((moment, question))
    }

    /// What may be asked next.
    enum Offer {
        case questions([Question], of: App)
        /// Nothing before this moment.
        case wait(until: UnixTime)
        case nothing
    }

    /// The next request's questions, from one app after the other. A request that is not full waits for more, so many
    /// microseconds for one user and so many for `several`, and for `turn`, its turn at the steady pace: requests that are
    /// full come first.
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
                // A clock that was set back must not hold anything up.
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
