import AdapterKit
import Pipeline
import Testing

@testable import Operations

/// Tokens in partitions to which workers no longer send their subjects' tokens.
@Suite struct StrayTokenTests {
    private static let now = UnixTime(seconds: 1000)

    /// The vectors of Kafka's own test (`UtilsTest.testMurmur2`).
    @Test(
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
        ] as [(String, Int32)])
    func `a key's partition is that of Kafka's clients`(key: String, hash: Int32) {
        #expect(Int32(bitPattern: KeyPartition.murmur2(Array(key.utf8))) == hash)
        #expect(KeyPartition.of(Array(key.utf8), count: 7) == Int32((UInt32(bitPattern: hash) & 0x7fff_ffff) % 7))
    }

    /// Reads partitions as `LedgerReader` does: the tables one after the other, then the homes of stray tokens.
    private func holdings(
        _ partitions: [[(user: String, key: String, version: Int64)]], memory: Int = 1 << 20
    ) -> LedgerHoldings {
        var strays = StrayTokens(partitions: partitions.count, memory: memory)
        var holdings = LedgerHoldings()
        let filter = LedgerFilter(keyID: "old")
        for (partition, records) in partitions.enumerated() {
            var table = LedgerTable()
            for (offset, record) in records.enumerated() {
                table.take(
                    record.user, key: record.key, expires: 2000, version: record.version, offset: Int64(offset))
                strays.note(Array(record.user.utf8), in: Int32(partition))
            }
            let kept = strays.keep(from: table, matching: filter, at: Self.now)
            holdings.add(table, matching: filter, at: Self.now, but: kept.contains)
        }
        let homes = strays.homes
        for (partition, records) in partitions.enumerated() where homes.contains(Int32(partition)) {
            for record in records { strays.compare(Array(record.user.utf8), record.version, in: Int32(partition)) }
        }
        strays.each { holdings.add($0, at: Self.now) }
        return holdings
    }

    private static func home(_ user: String, _ count: Int) -> Int {
        Int(KeyPartition.of(Array(user.utf8), count: count))
    }

    @Test(arguments: [1, 2]) func `a token that partitions were added behind does not count where a newer one exists`(
        _ before: Int
    ) {
        let users = (0..<60).map { "shop/u\($0)" }
        var partitions = [[(user: String, key: String, version: Int64)]](repeating: [], count: 4)
        for user in users { partitions[Self.home(user, before)].append((user, "old", 1)) }
        #expect(holdings(partitions).live == 60, "nobody was answered")
        for user in users.dropFirst(10) { partitions[Self.home(user, 4)].append((user, "new", 2)) }
        #expect(holdings(partitions).live == 10, "10 were not answered")
        for user in users.prefix(10) { partitions[Self.home(user, 4)].append((user, "new", 2)) }
        #expect(holdings(partitions).live == 0)
    }

    @Test func `a token of the old version counts in its present partition, too`() {
        var partitions = [[(user: String, key: String, version: Int64)]](repeating: [], count: 4)
        for user in 0..<40 {
            let user = "shop/u\(user)"
            partitions[0].append((user, "old", 1))
            if Self.home(user, 4) != 0 { partitions[Self.home(user, 4)].append((user, "old", 2)) }
        }
        #expect(holdings(partitions).live == 40)
    }

    @Test func `tokens that memory is too small for count each`() {
        var partitions = [[(user: String, key: String, version: Int64)]](repeating: [], count: 4)
        for user in 0..<40 {
            let user = "shop/u\(user)"
            partitions[0].append((user, "old", 1))
            if Self.home(user, 4) != 0 { partitions[Self.home(user, 4)].append((user, "new", 2)) }
        }
        #expect(holdings(partitions, memory: 200).live >= 25, "what is not compared counts")
    }
}
