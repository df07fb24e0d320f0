import AdapterKit
import AdapterTestKit
import AdapterTestSupport
import BloomreachAdapter
import Foundation
import Testing

@Suite struct BloomreachConformanceTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test func `Bloomreach's adapter keeps every promise of an adapter`() throws {
        let suite = try AdapterConformance(.init(BloomreachAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }

    /// Every SDK and wrapper that the README names.
    @Test(arguments: ["Android", "iOS", "React Native", "Flutter", "Web", "Customer token, app"])
    func `Bloomreach's fixtures have a report of every SDK, with its source`(_ sdk: String) throws {
        let reports = try AdapterFixtures(directory: folder.appending(path: "Fixtures")).reports
        #expect(reports.contains { $0.sdk == sdk && $0.namesSource })
    }
}
