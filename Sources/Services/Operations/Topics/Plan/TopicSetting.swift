/// A setting of a topic that Remint requires or recommends.
package struct TopicSetting: Sendable, Equatable {
    /// The setting that decides what happens to old records.
    package static let policy = "cleanup.policy"

    /// The codec of a topic of events, which strangers may write. A broker that stores batches unpacked refuses those that are then
    /// larger than `max.message.bytes`. With another value it bounds the packed size alone: it stores a batch of the same codec as it
    /// came.
    package static let unpacked = TopicSetting(
        "compression.type", "uncompressed",
        [
            TopicDemand(
                .includes("uncompressed"), .warning, "one small batch can unpack to more memory than workers have")
        ])

    /// The setting's name at the brokers.
    package let name: String
    /// The value with which a topic is created.
    package let value: String
    /// The word of `cleanup.policy` without which the setting has no effect; nil where it always has an effect.
    package let policy: String?
    /// The requirements on other values.
    package let demands: [TopicDemand]

    init(_ name: String, _ value: String, under policy: String? = nil, _ demands: [TopicDemand]) {
        self.name = name
        self.value = value
        self.policy = policy
        self.demands = demands
    }

    init(_ name: String, milliseconds: Int64, under policy: String? = nil, _ demands: [TopicDemand]) {
        self.init(name, String(milliseconds), under: policy, demands)
    }

    /// Returns the first demand that a topic with `settings` fails; nil where it fails none, where the setting has no
    /// effect, or where the broker does not know it.
    package func failure(in settings: [String: String]) -> TopicDemand? {
        guard let actual = settings[name] else { return nil }
        if let policy, let inForce = settings[Self.policy], !Self.words(of: inForce).contains(policy) { return nil }
        return demands.first { !$0.accepts(actual) }
    }

    /// Returns the finding about a topic with `settings`; nil if it fails no demand.
    package func finding(in settings: [String: String]) -> TopicFinding? {
        guard let demand = failure(in: settings), let value = settings[name] else { return nil }
        return TopicFinding(
            severity: demand.severity, message: "\(name)=\(value): \(demand.consequence); set it to \(self.value)")
    }

    /// Returns the words of a list that is separated by commas, with or without spaces.
    static func words(of list: String) -> Set<String> {
        Set(list.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init))
    }
}
