import AdapterKit
import AdapterTestKit
import Foundation
import InfobipAdapter
import Testing

@Suite struct InfobipConformanceTests {
    @Test func `keeps every promise of an adapter`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let suite = try AdapterConformance(.init(InfobipAdapter.self), folder: folder)
        #expect(try suite.violations() == [])
    }
}
