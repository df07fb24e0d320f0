import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Each fault is named at every place that an operator looks at, and none of them calls it healthy.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct LieDetectorTests {
        @Test(arguments: Fault.platform)
        func `a fault is named at every place while it lasts, and at none before`(_ fault: Fault) async throws {
            try await FaultPlay.run(fault)
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
    }
}

extension OperatorScenarios {
    /// The same for vendors, operators and producers, beside the other rows.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct WorkLieDetectorTests {
        @Test(arguments: Fault.work)
        func `a fault is named at every place while it lasts, and at none before`(_ fault: Fault) async throws {
            try await FaultPlay.run(fault)
        }
    }
}
