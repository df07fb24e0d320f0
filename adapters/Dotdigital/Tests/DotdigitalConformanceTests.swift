import AdapterKit
import AdapterTestKit
import DotdigitalAdapter
import Foundation
import Testing

@Suite struct DotdigitalConformanceTests {
    @Test func `keeps every promise of an adapter`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let suite = try AdapterConformance(.init(DotdigitalAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }
}
