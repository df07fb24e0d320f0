import AdapterKit
import AdapterTestKit
import AdapterTestSupport
import Foundation
import OneSignalAdapter
import Testing

@Suite struct OneSignalConformanceTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test func `OneSignal's adapter keeps every promise of an adapter`() throws {
        let suite = try AdapterConformance(.init(OneSignalAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }

    /// Every SDK and wrapper that the README names.
    @Test(arguments: ["Android", "iOS", "Web", "Flutter", "React Native", "Cordova", "Unity"])
    func `OneSignal's fixtures have a report of every SDK, with its source`(_ sdk: String) throws {
        let reports = try AdapterFixtures(directory: folder.appending(path: "Fixtures")).reports
        #expect(reports.contains { $0.sdk == sdk && $0.namesSource })
    }
}
