import Kafka
import Testing

/// The ways of events through the retry tiers to their ends, derived from the records they left.
struct Hops {
    /// A record of a retry tier, and the one that followed it.
    struct Hop {
        let id: String
        let tier: String
        /// Before when it may not be taken up, in milliseconds since 1970.
        let notBefore: Int64
        /// The time at which the following record was produced.
        let next: Int64
        var lateness: Int64 { next - notBefore }
    }

    private(set) var all: [Hop] = []

    /// Reads every hop. Each event must have an outcome.
    init(_ shop: Shop) async throws {
        let records = try await TopicReader.records(of: shop.partitions(of: shop.topics.tiers + shop.topics.outcomes))
        for (id, steps) in Dictionary(grouping: records, by: { $0.eventID ?? "" }) {
            let ordered = steps.sorted { ($0.timestamp ?? 0) < ($1.timestamp ?? 0) }
            for (step, next) in zip(ordered, ordered.dropFirst()) {
                let notBefore = try #require(step.header("remint-not-before").flatMap { Int64($0) })
                all.append(
                    Hop(
                        id: id, tier: String(step.position.topic.dropFirst(shop.topics.retries.count + 1)),
                        notBefore: notBefore, next: try #require(next.timestamp)))
            }
        }
    }

    func count(in tier: String) -> Int { all.count { $0.tier == tier } }

    /// Expects that no event was taken up before its moment, nor later than a second after it.
    func expectPunctual() {
        let early = all.filter { $0.lateness < 0 }, late = all.filter { $0.lateness > 1000 }
        #expect(early.isEmpty, "taken up early: \(early.prefix(5))")
        #expect(late.isEmpty, "\(late.count) of \(all.count) hops were taken up late: \(late.prefix(5))")
    }

    var summary: String {
        Dictionary(grouping: all, by: \.tier).sorted { $0.key < $1.key }.map { tier, hops in
            let lateness = hops.map(\.lateness).sorted()
            return
                "\(tier): \(hops.count) hops, \(lateness[0]) to \(lateness[lateness.count - 1]) ms after their moment"
        }.joined(separator: "; ")
    }
}
