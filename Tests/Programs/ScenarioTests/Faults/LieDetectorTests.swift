import Foundation
import Testing

/// Each fault is named at every place that an operator looks at, and none of them calls it healthy.
///
/// The scenes are played at the same time: they mostly wait, for brokers, timeouts and back-offs.
@Suite(.timeLimit(.minutes(5))) struct LieDetectorTests {
    @Test(arguments: FaultScene.allCases)
    func `the faults of a scene are named at every place while they last, and at none before`(
        _ scene: FaultScene
    ) async throws {
        try await scene.play()
    }

    @Test func `the page of the faults has the rows`() throws {
        if ProcessInfo.processInfo.environment[FaultPage.variable] != nil {
            try Data(FaultPage.text.utf8).write(to: FaultPage.file)
        }
        let text = try String(contentsOf: FaultPage.file, encoding: .utf8)
        let command = "\(FaultPage.variable)=1 swift test --filter 'the page of the faults'"
        #expect(text == FaultPage.text, "write the page again: \(command)")
    }

    @Test func `the rows are many, each has a name of its own, and few places are exempt`() {
        #expect(Fault.all.count >= 30)
        #expect(Set(Fault.all.map(\.name)).count == Fault.all.count)
        let exempt = Fault.all.filter { $0.readiness.text == nil || $0.firstLine.text == nil }
        #expect(exempt.count <= 3, "\(exempt.map(\.name))")
    }

    @Test func `every run plays thirteen faults, some of each table and of each scene`() {
        let played = Fault.all.filter(\.isInEveryRun)
        #expect(played.count == 13)
        #expect(Set(played.map(\.scene)) == Set(FaultScene.allCases))
        #expect(Fault.tables.allSatisfy { $0.contains(where: \.isInEveryRun) })
    }
}
