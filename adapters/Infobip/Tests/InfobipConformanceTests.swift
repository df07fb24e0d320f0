import AdapterKit
import AdapterTestKit
import AdapterTestSupport
import Foundation
import InfobipAdapter
import Testing

@Suite struct InfobipConformanceTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test func `Infobip's adapter keeps every promise of an adapter`() throws {
        let suite = try AdapterConformance(.init(InfobipAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }

    /// Every SDK and wrapper that the README names.
    @Test(arguments: [
        "Android", "iOS", "React Native Android", "React Native iOS", "Flutter Android", "Flutter iOS",
        "Cordova Android", "Cordova iOS", "Server",
    ])
    func `Infobip's fixtures have a report of every SDK, with its source`(_ sdk: String) throws {
        let reports = try AdapterFixtures(directory: folder.appending(path: "Fixtures")).reports
        #expect(reports.contains { $0.sdk == sdk && $0.namesSource })
    }
}
