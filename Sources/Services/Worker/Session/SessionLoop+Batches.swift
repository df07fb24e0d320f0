import AdapterKit
import Kafka
import Pipeline

// MARK: Record batches that cannot be unpacked

struct BatchEnd: Sendable {
    let place: RecordPosition
    /// The number of rebalances when the search began.
    let rebalance: Int
    /// The offset behind the batch; nil where it was not found.
    let end: Int64?
}

extension SessionLoop {
    /// Reacts to the error of the record batch at `place`.
    mutating func failed(_ error: KafkaError, at place: RecordPosition, _ lane: Lane) {
        context.reachability.noted(error)
        switch batches[lane].failed(at: place, "\(error)") {
        case .wait: break
        case .seek(let offset): seeks[lane].append(PartitionOffset(TopicPartition(place), offset: offset))
        case .find:
            observer.batchFailed(error, at: place, lane)
            background.addTask { [batchEnd, batchEnds, observer, wakeup = lanes.wakeup, number = rebalances[lane]] in
                var end: Int64?
                do throws(KafkaError) { end = try await batchEnd(place) } catch { observer.consumerFailed(error, lane) }
                batchEnds[lane].add(BatchEnd(place: place, rebalance: number, end: end))
                wakeup.signal()
            }
        }
        showBatches()
    }

    /// Continues behind the batches whose ends were found. Each becomes a record of its own, whose dead letter and offset are
    /// committed like any other's.
    mutating func passBatches() async {
        for lane in Lane.allCases {
            for found in batchEnds[lane].take() ?? [] where found.rebalance == rebalances[lane] { pass(found, lane) }
            let offsets = seeks[lane]
            guard !offsets.isEmpty else { continue }
            seeks[lane] = []
            // The library returns to a batch that it could not leave, and reports it again.
            do throws(KafkaError) { try await lanes.consumers[lane].seek(to: offsets) } catch {
                observer.consumerFailed(error, lane)
            }
        }
    }

    private mutating func pass(_ found: BatchEnd, _ lane: Lane) {
        let partition = TopicPartition(found.place)
        guard let start = machine.frontier(of: partition, on: lane),
            let batch = batches[lane].found(found.end, of: found.place, from: start)
        else { return }
        seeks[lane].append(PartitionOffset(partition, offset: batch.end))
        let record = InputRecord(batch, lane: lane)
        passed([record], lane)
        machine.received([record], on: lane, at: context.now())
    }

    /// Reports the batches among `records`.
    mutating func passed(_ records: [InputRecord], _ lane: Lane) {
        for batch in records.lazy.compactMap(\.batch) { observer.passed(batch, lane) }
        showBatches()
    }

    mutating func forgetBatches(of partitions: [TopicPartition], _ lane: Lane) {
        batches[lane].forget(partitions)
        showBatches()
    }

    private func showBatches() { observer.showBatches(Lane.allCases.flatMap { batches[$0].problems }) }
}
