extension Sequence<TopicPartition> {
    /// The partitions for people, neighbors as ranges: `orders/0-5,7 payments/0`.
    public var ranges: String {
        Dictionary(grouping: self, by: \.topic).sorted { $0.key < $1.key }.map { topic, partitions in
            "\(topic)/\(Self.ranges(of: Set(partitions.map(\.partition))))"
        }.joined(separator: " ")
    }

    private static func ranges(of numbers: Set<Int32>) -> String {
        var ranges: [ClosedRange<Int32>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, Int64(last.upperBound) + 1 == Int64(number) {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }
}
