import AdapterKit
import Pipeline
import Testing

/// The reaction to record batches that no consumer can unpack.
@Suite struct UnreadableBatchesTests {
    private static let partition = TopicPartition(topic: "remint.invalidations", partition: 3)

    private func place(_ offset: Int64) -> RecordPosition {
        RecordPosition(topic: Self.partition.topic, partition: Self.partition.partition, offset: offset)
    }

    private func failing(_ times: Int, at offset: Int64 = 17) -> (UnreadableBatches, UnreadableBatches.Step) {
        var batches = UnreadableBatches()
        var step = UnreadableBatches.Step.wait
        for _ in 0..<times { step = batches.failed(at: place(offset), "damaged") }
        return (batches, step)
    }

    @Test func `the end of a batch is looked for once, after a few tries`() {
        #expect(failing(UnreadableBatches.tries - 1).1 == .wait)
        #expect(failing(UnreadableBatches.tries).1 == .find)
        #expect(failing(UnreadableBatches.tries + 1).1 == .wait)
    }

    @Test func `a partition stands still from the last try on until its batch is passed`() {
        #expect(failing(UnreadableBatches.tries - 1).0.problems.isEmpty)
        var (batches, _) = failing(UnreadableBatches.tries)
        #expect(batches.problems == ["damaged"])
        let found1 = batches.found(20, of: place(17), from: 17)
        #expect(found1 != nil)
        #expect(batches.problems.isEmpty)
    }

    @Test func `a passed batch begins at the first offset that was not consumed`() throws {
        var (batches, _) = failing(3)
        let found2 = batches.found(20, of: place(17), from: 18)
        let batch = try #require(found2)
        #expect(batch.first == place(18) && batch.end == 20)
    }

    @Test func `a consumer that returns to a passed batch goes on behind it, without another letter`() {
        var (batches, _) = failing(3)
        _ = batches.found(20, of: place(17), from: 17)
        let step3 = batches.failed(at: place(17), "damaged")
        #expect(step3 == .seek(20))
        let found4 = batches.found(20, of: place(17), from: 17)
        #expect(found4 == nil)
        let step5 = batches.failed(at: place(20), "damaged")
        #expect(step5 == .wait, "it is another batch")
    }

    @Test func `a search without a result begins again after the next error`() {
        var (batches, _) = failing(3)
        let found6 = batches.found(nil, of: place(17), from: 17)
        #expect(found6 == nil)
        let step7 = batches.failed(at: place(17), "damaged")
        #expect(step7 == .find)
        let found8 = batches.found(17, of: place(17), from: 17)
        #expect(found8 == nil, "nothing is behind it")
        let step9 = batches.failed(at: place(17), "damaged")
        #expect(step9 == .find)
    }

    @Test func `a partition that goes takes its batch along`() {
        var (batches, _) = failing(3)
        batches.forget([Self.partition])
        #expect(batches.problems.isEmpty)
        let found10 = batches.found(20, of: place(17), from: 17)
        #expect(found10 == nil)
    }

    // MARK: Batches that the library passes

    @Test func `a batch that the library passed gets a record before the next one`() throws {
        var (batches, _) = failing(1)
        let records = [15, 21, 22].map { InputRecord.sample("{}", offset: $0) }
        let all = batches.passing(records, .live)
        #expect(all.map(\.origin.offset) == [15, 20, 21, 22])
        let batch = try #require(all[1].batch)
        #expect(batch.first == place(17) && batch.end == 21)
        let passed11 = batches.passing(records, .live)
        #expect(passed11.count == 3, "once")
    }

    @Test func `a batch that could be read at last is no batch to pass`() {
        var (batches, _) = failing(2)
        let passed12 = batches.passing([.sample("{}", offset: 17)], .live)
        #expect(passed12.count == 1)
        let step13 = batches.failed(at: place(17), "damaged")
        #expect(step13 == .wait, "the tries begin again")
    }

    // MARK: The letter

    @Test func `a passed batch is one dead letter by reference, and its offsets are committed with it`() async throws {
        let batch = UnreadableBatch(place(17), end: 157, reason: "Local: Invalid compressed data")
        let record = InputRecord(batch, lane: .live)
        #expect(record.origin == place(156))
        var processor = try TestBench().processor()
        let settlement = try #require(await processor.process([record]).first)
        #expect(settlement.outcome == .deadLettered(.unreadableBatch))
        #expect(settlement.app == nil)
        let letter = try #require(settlement.output)
        #expect(letter.destination == .deadLetters && letter.key == nil && letter.value == nil)
        #expect(letter.values("remint-error-code") == ["unreadable_batch"])
        #expect(letter.values("remint-error-stage") == ["decode"])
        #expect(letter.values("remint-origin-topic") == ["remint.invalidations"])
        #expect(letter.values("remint-origin-partition") == ["3"])
        #expect(letter.values("remint-origin-offset") == ["17"])
        #expect(letter.values("remint-origin-value-bytes") == ["0"])
        #expect(letter.values("remint-error-detail").first??.contains("17 to 156") == true)

        var progress = PartitionProgress()
        progress.began(Self.partition, at: 17)
        progress.taken(record.origin)
        #expect(progress.committable.isEmpty)
        progress.finished(record.origin)
        #expect(progress.committable == [Self.partition: 157])
    }
}
