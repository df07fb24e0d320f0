import Testing

/// What only a real broker can show: transactions, isolation, fencing, generations. One story at a time, for each takes
/// all there is of this machine.
@Suite(.serialized, .enabled(if: Cluster.isNamed, Cluster.howToName)) enum BrokerTests {}
