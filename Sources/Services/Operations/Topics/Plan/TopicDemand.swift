/// A requirement on a topic's setting, and the consequence of a value that fails it.
package struct TopicDemand: Sendable, Equatable {
    /// The check of a value.
    package enum Check: Sendable, Equatable {
        /// A list, separated by commas, contains this word.
        case includes(String)
        /// A list, separated by commas, does not contain this word.
        case excludes(String)
        /// A number is no smaller; -1 stands for unlimited.
        case atLeast(Int64)
        /// A number is no larger.
        case atMost(Int64)
    }

    /// The check.
    package let check: Check
    /// The severity of a value that fails the check.
    package let severity: TopicFinding.Severity
    /// The consequence of a value that fails the check, in a few words.
    package let consequence: String

    init(_ check: Check, _ severity: TopicFinding.Severity, _ consequence: String) {
        self.check = check
        self.severity = severity
        self.consequence = consequence
    }

    /// Returns whether `value`, as a broker writes it, passes. A value that is no number passes no check of numbers.
    package func accepts(_ value: String) -> Bool {
        switch check {
        case .includes(let word): TopicSetting.words(of: value).contains(word)
        case .excludes(let word): !TopicSetting.words(of: value).contains(word)
        case .atLeast(let least): Int64(value).map { $0 == -1 || $0 >= least } ?? false
        case .atMost(let most): Int64(value).map { $0 <= most } ?? false
        }
    }
}

/// A finding about a topic.
package struct TopicFinding: Sendable, Equatable {
    /// The severity of a finding.
    package enum Severity: String, Sendable {
        /// The topic loses data, keeps records that must expire, or keeps the worker from working.
        case error
        /// An operator should look at the topic.
        case warning
    }

    /// The severity.
    package let severity: Severity
    /// The problem, its consequence and the right value, in one line.
    package let message: String
}
