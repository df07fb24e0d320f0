import AdapterKit
import AdapterTestKit
import Foundation
import OneSignalAdapter
import Testing

@Suite struct OneSignalConformanceTests {
    @Test func `keeps every promise of an adapter`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let suite = try AdapterConformance(.init(OneSignalAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }
}
