import Testing

/// The behavior that only a real broker can show: transactions, isolation, fencing, generations. One story runs at a
/// time, because each uses the whole machine.
@Suite(.serialized, .enabled(if: Cluster.isNamed, Cluster.howToName)) enum BrokerTests {}
