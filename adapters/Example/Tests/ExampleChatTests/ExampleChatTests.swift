import AdapterKit
import AdapterTestKit
import ExampleChat
import Foundation
import Testing

@Suite struct ExampleChatTests {
    /// The folder of the package.
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `the adapter of Example Chat keeps every promise of an adapter`() throws {
        let fixtures = try AdapterFixtures(directory: Self.package.appending(path: "Sources/ExampleChat/Fixtures"))
        let readme = try String(contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
        let suite = AdapterConformance(.init(ExampleChatAdapter.self), fixtures: fixtures, readme: readme)
        let violations = try suite.violations()
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }
}
