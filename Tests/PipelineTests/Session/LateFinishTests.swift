import Pipeline
import Testing

@Suite("Inputs that are finished at the wrong time")
struct LateFinishTests {
    private static let partition = TopicPartition(topic: "t", partition: 0)

    private func origin(_ offset: Int64) -> RecordPosition { RecordPosition(topic: "t", partition: 0, offset: offset) }

    @Test func `one that was finished before it was taken is not finished`() {
        var progress = PartitionProgress()
        progress.taken(origin(5))
        progress.finished(origin(6))
        progress.taken(origin(6))
        progress.finished(origin(5))
        #expect(progress.committable == [Self.partition: 6])
        #expect(progress.hasOpenInputs)
    }

    @Test func `one that falls into a hole of the offsets changes nothing`() {
        var progress = PartitionProgress()
        for offset: Int64 in [5, 9] { progress.taken(origin(offset)) }
        for offset: Int64 in [4, 6, 8, 10, .min, .max] { progress.finished(origin(offset)) }
        #expect(progress.committable.isEmpty)
        progress.finished(origin(5))
        #expect(progress.committable == [Self.partition: 6])
    }
}
