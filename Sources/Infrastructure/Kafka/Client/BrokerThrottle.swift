import CRdKafka
import Synchronization

/// The time for which brokers make a client wait because of a quota. librdkafka has no event for it: its statistics have the time.
struct BrokerThrottle: ~Copyable {
    private let milliseconds = Atomic(Int64(0))

    /// The longest wait of the last interval between two statistics.
    var longest: Duration { .milliseconds(milliseconds.load(ordering: .relaxed)) }

    /// Notes the statistics of an event.
    func note(_ event: OpaquePointer) {
        guard let text = unsafe rd_kafka_event_stats(event) else { return }
        milliseconds.store(unsafe Self.longest(in: String(cString: text)), ordering: .relaxed)
    }

    /// Returns the longest throttle of any broker in librdkafka's statistics, in milliseconds. Each broker has a member
    /// `"throttle": { "min":0, "max":0, … }` (STATISTICS.md); no other part of them has this name.
    static func longest(in statistics: String) -> Int64 {
        statistics.components(after: "\"throttle\"").map { part in
            let window = part.prefix { $0 != "}" }
            let number = window.components(after: "\"max\"").first?.drop { $0 == ":" || $0 == " " }
            return number.flatMap { Int64($0.prefix(while: \.isNumber)) } ?? 0
        }.max() ?? 0
    }
}

extension StringProtocol {
    /// Returns the parts behind each `name`.
    fileprivate func components(after name: String) -> [SubSequence] {
        ranges(of: name).map { self[$0.upperBound...] }
    }
}
