import AdapterKit
import AdapterTestKit
import BrazeAdapter
import Foundation
import Testing

@Suite struct BrazeConformanceTests {
    @Test func `keeps every promise of an adapter`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let suite = try AdapterConformance(.init(BrazeAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }
}
