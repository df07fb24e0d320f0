import AdapterKit
import AdapterTestKit
import AdapterTestSupport
import BrazeAdapter
import Foundation
import Testing

@Suite struct BrazeConformanceTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test func `Braze's adapter keeps every promise of an adapter`() throws {
        let suite = try AdapterConformance(.init(BrazeAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }

    /// Every SDK and wrapper that the README names.
    @Test(arguments: [
        "Web", "Swift", "Objective-C", "Android", "Unity Android", "Unity iOS", "Flutter", "Flutter iOS",
        "Flutter Android", "React Native iOS", "React Native Android", "Cordova iOS", "Cordova Android",
    ])
    func `Braze's fixtures have a report of every SDK, with its source`(_ sdk: String) throws {
        let reports = try AdapterFixtures(directory: folder.appending(path: "Fixtures")).reports
        #expect(reports.contains { $0.sdk == sdk && $0.namesSource })
    }
}
