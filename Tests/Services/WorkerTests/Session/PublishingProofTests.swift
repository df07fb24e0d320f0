import Testing

@testable import Pipeline
@testable import Worker

/// Tests of the commits after which topics count as written.
@Suite struct PublishingProofTests {
    /// A unit of one event that publishes a record, or none.
    private static func unit(isPublishing: Bool) -> CommitUnit {
        let origin = RecordPosition(topic: "t", partition: 0, offset: 0)
        var batch = Batch(
            number: 1, records: [InputRecord(origin: origin, timestamp: nil, key: nil, value: [], headers: [])],
            waiting: .over)
        let output = OutputRecord(destination: .tokens, key: nil, value: [], headers: [])
        batch.settlements = [
            Settlement(
                origin: origin, eventID: nil, app: "shop", outcome: .minted, output: isPublishing ? output : nil)
        ]
        return CommitUnit(batches: [batch], offsets: PerLane { _ in [:] })
    }

    private static let offsets = CommitUnit(batches: [], offsets: PerLane { _ in [:] })

    @Test func `a unit publishes where one of its events has a record`() {
        #expect(Self.unit(isPublishing: true).isPublishing)
        #expect(!Self.unit(isPublishing: false).isPublishing && !Self.offsets.isPublishing)
    }

    @Test(arguments: [true, false])
    func `records of an aborted unit are published by a unit with records alone`(_ isAdded: Bool) {
        var proof = PublishingProof()
        proof.began(isAdded ? Self.offsets : Self.unit(isPublishing: true))
        if isAdded { proof.added(Self.unit(isPublishing: true)) }
        proof.aborted()
        let units = [
            Self.offsets, Self.unit(isPublishing: false), Self.unit(isPublishing: true), Self.offsets,
        ]
        var shown: [Bool] = []
        for unit in units {
            proof.began(unit)
            shown.append(proof.committed(unit))
        }
        #expect(shown == [false, false, true, true])
    }

    @Test func `aborted offsets are over with the next commit, and so are records that went to another worker`() {
        var proof = PublishingProof()
        var shown: [Bool] = []
        proof.began(Self.offsets)
        proof.aborted()
        shown.append(proof.committed(Self.offsets))
        proof.began(Self.unit(isPublishing: true))
        proof.aborted()
        proof.gavePartitionsUp()
        shown.append(proof.committed(Self.offsets))
        #expect(shown == [true, true])
    }
}
