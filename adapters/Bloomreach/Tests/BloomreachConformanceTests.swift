import AdapterKit
import AdapterTestKit
import BloomreachAdapter
import Foundation
import Testing

@Suite struct BloomreachConformanceTests {
    @Test func `keeps every promise of an adapter`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let suite = try AdapterConformance(.init(BloomreachAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }
}
