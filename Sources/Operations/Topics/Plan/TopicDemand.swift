/// What a topic's setting must be, and what happens where it is not.
package struct TopicDemand: Sendable, Equatable {
    /// What a value is held against.
    package enum Check: Sendable, Equatable {
        /// A list, separated by commas, has this word.
        case includes(String)
        /// A list, separated by commas, lacks this word.
        case excludes(String)
        /// A number is no smaller; -1 stands for no end.
        case atLeast(Int64)
        /// A number is no larger.
        case atMost(Int64)
    }

    /// The check.
    package let check: Check
    /// How bad it is where a value fails it.
    package let severity: TopicFinding.Severity
    /// What happens then, in a few words.
    package let consequence: String

    init(_ check: Check, _ severity: TopicFinding.Severity, _ consequence: String) {
        self.check = check
        self.severity = severity
        self.consequence = consequence
    }

    /// Whether `value`, as a broker writes it, passes. What is no number passes no check of numbers.
    package func accepts(_ value: String) -> Bool {
        switch check {
        case .includes(let word): TopicSetting.words(of: value).contains(word)
        case .excludes(let word): !TopicSetting.words(of: value).contains(word)
        case .atLeast(let least): Int64(value).map { $0 == -1 || $0 >= least } ?? false
        case .atMost(let most): Int64(value).map { $0 <= most } ?? false
        }
    }
}

/// Something to know about a topic.
package struct TopicFinding: Sendable, Equatable {
    /// How bad it is.
    package enum Severity: String, Sendable {
        /// It loses data, keeps what must end, or keeps the worker from working.
        case error
        /// Someone should look.
        case warning
    }

    /// How bad.
    package let severity: Severity
    /// What is wrong, what comes of it and what would be right, in one line.
    package let message: String
}
