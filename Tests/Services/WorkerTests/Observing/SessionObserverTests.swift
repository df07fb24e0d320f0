import AdapterKit
import AsyncTestSupport
import Foundation
import Logging
import ProgramTestSupport
import Testing

@testable import Kafka
@testable import Pipeline
@testable import Worker

@Suite("The observer of sessions") struct SessionObserverTests {
    private let status = WorkerStatus()
    private let log = RecordingLog()
    private let error = KafkaError(.transport, "a broker is gone")

    private var observer: SessionObserver { SessionObserver(status, logger: log.logger()) }
    private var events: [String?] { log.lines.map(\.event) }

    /// A unit of one event of the app `shop`, which a device with a wrong clock reported.
    private var unit: CommitUnit {
        let origin = RecordPosition(topic: "t", partition: 0, offset: 0)
        var batch = Batch(
            number: 1, records: [InputRecord(origin: origin, timestamp: nil, key: nil, value: [], headers: [])],
            waiting: .over)
        batch.settlements = [
            Settlement(
                origin: origin, eventID: nil, app: "shop", outcome: .minted, output: nil, isClockSkew: true)
        ]
        return CommitUnit(batches: [batch], offsets: PerLane { _ in [:] })
    }

    @Test func `the outcomes of all committed units are logged once, and those of an aborted one never`() throws {
        let observer = observer
        let (start, end) = (Events.now, Events.now)
        for result in [CommitResult.committed(unit), .aborted(error), .committed(unit)] {
            observer.commitEnded(unit, result, from: start, to: end, in: .seconds(1))
        }
        #expect(log.lines.isEmpty, "a line a second is enough")
        for _ in 0..<2 { observer.logOutcomes() }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.metadata == ["remint.app": "shop: 2"])
    }

    @Test func `outcomes have five lines a minute, and none is left out`() {
        let observer = observer
        let begin = ContinuousClock.now
        for second in 0..<90 {
            observer.commitEnded(unit, .committed(unit), from: Events.now, to: Events.now, in: .seconds(1))
            observer.logOutcomes(at: begin + .seconds(second))
        }
        observer.logOutcomes(isLast: true, at: begin + .seconds(90))
        let counts = log.lines.compactMap { $0.metadata["remint.app"].flatMap { Int($0.dropFirst("shop: ".count)) } }
        #expect(counts.reduce(0, +) == 90)
        #expect(counts.prefix(6) == [1, 1, 1, 1, 1, 56])
        #expect(counts.count == 11)
    }

    @Test func `a worker that leaves quiet mode before its first partitions is still starting`() {
        let observer = observer
        observer.changed(isQuiet: true, isBegun: false)
        #expect(status.problems[.worker]?.hasPrefix("it is quiet") == true)
        observer.changed(isQuiet: false, isBegun: false)
        #expect(status.problems == [.worker: "it is starting"])
        observer.changed(isQuiet: true, isBegun: true)
        observer.changed(isQuiet: false, isBegun: true)
        #expect(status.isReady)
    }

    @Test func `a blocked topic keeps the worker from being ready until a unit is committed`() {
        let observer = observer
        status.set(.worker, nil)
        observer.committed()
        observer.blocked(Blockage(error, []))
        #expect(status.problems.keys.sorted() == [.publishing])
        observer.committed()
        observer.committed()
        #expect(status.isReady)
        #expect(events == ["topic.unwritable", "topics.writable"])
    }

    @Test(arguments: [KafkaError.Code.invalidSessionTimeout, .inconsistentProtocol, .groupAuthorizationFailed])
    func `a group that refuses the worker is a reason until it joins`(_ code: KafkaError.Code) {
        let observer = observer
        status.set(.worker, nil)
        observer.consumerFailed(KafkaError(code, "JoinGroup failed"), .live)
        #expect(status.problems.keys.sorted() == [.topics] && status.problems[.topics]?.contains("\(code)") == true)
        observer.joined(.bulk)
        #expect(!status.isReady)
        observer.joined(.live)
        #expect(status.isReady)
    }

    @Test func `an abort makes the worker unready only once the same abort repeats`() {
        let observer = observer
        observer.aborted(error, isRepeated: false)
        #expect(status.problems[.publishing] == nil)
        observer.aborted(error, isRepeated: true)
        #expect(status.problems[.publishing] == "every transaction is aborted: \(error)")
        #expect(log.lines.map(\.level) == [.warning, .error, .warning])
    }

    @Test func `a taken record clears the problem of the topics`() {
        let observer = observer
        observer.topicsMissing("tokens: no partitions")
        #expect(status.problems[.topics] == "missing or not to be used: tokens: no partitions")
        observer.took(1, .live)
        #expect(status.problems[.topics] == nil)
    }

    @Test func `an unread control topic is logged only the first time`() {
        let observer = observer
        for isNew in [true, false] { observer.controlUnread("control", "it is forbidden", isNew: isNew) }
        #expect(status.problems[.topics] == "the control topic control is not read yet: it is forbidden")
        #expect(log.lines.count == 1)
    }

    /// A line that a session writes beside its observer is one that no test of the observer sees.
    @Test func `a session writes no log, status or metric itself`() throws {
        let writing = /[lL]ogger\.(?:trace|debug|info|notice|warning|error|critical)\(|\bstatus\.set|\bmetrics\./
        for folder in ["Session", "Control", "Committing"] {
            let files = Repository.files(under: "Sources/Services/Worker/\(folder)", ending: "swift")
            #expect(!files.isEmpty)
            for file in files {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.firstMatch(of: writing) == nil, "\(file.path): use SessionObserver")
            }
        }
    }
}
