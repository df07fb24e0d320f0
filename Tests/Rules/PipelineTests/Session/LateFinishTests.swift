import Pipeline
import Testing

@Suite("Inputs that are finished at the wrong time")
struct LateFinishTests {
    private static let partition = TopicPartition(topic: "t", partition: 0)

    private func origin(_ offset: Int64) -> RecordPosition { RecordPosition(topic: "t", partition: 0, offset: offset) }

    @Test func `an input that is finished before it is taken stays open`() {
        var progress = PartitionProgress()
        progress.taken(origin(5))
        progress.finished(origin(6))
        progress.taken(origin(6))
        progress.finished(origin(5))
        #expect(progress.committable == [Self.partition: 6])
        #expect(progress.hasOpenInputs)
    }

    @Test func `a finish that falls into a hole of the offsets changes nothing`() {
        var progress = PartitionProgress()
        for offset: Int64 in [5, 9] { progress.taken(origin(offset)) }
        for offset: Int64 in [4, 6, 8, 10, .min, .max] { progress.finished(origin(offset)) }
        #expect(progress.committable.isEmpty)
        progress.finished(origin(5))
        #expect(progress.committable == [Self.partition: 6])
    }
}
