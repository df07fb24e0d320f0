import Foundation
import Testing
import WorkerConfiguration

@Suite("Configurations in files")
struct FixtureTests {
    private static let broken = Fixture.all(in: "broken")
    private static let good = Fixture.all(in: "good")

    @Test func `the fixtures are many`() {
        #expect(Self.broken.count >= 300)
        #expect(Self.good.count >= 10)
    }

    @Test(arguments: broken) func `a broken file is refused with its message`(_ fixture: Fixture) {
        let (configuration, diagnostics) = fixture.read()
        #expect(configuration == nil)
        #expect(fixture.lines(diagnostics) == fixture.says)
        #expect(diagnostics.contains { $0.severity == .error })
        for diagnostic in diagnostics {
            #expect(!diagnostic.message.contains("hunter2"), "the environment's value is not repeated")
            #expect(!diagnostic.message.contains { $0.isNewline })
        }
        #expect(fixture.effective().configuration == nil)
    }

    @Test(arguments: good) func `a good file is read`(_ fixture: Fixture) {
        let (configuration, diagnostics) = fixture.read()
        #expect(configuration != nil)
        #expect(fixture.lines(diagnostics) == fixture.says)
    }

    /// A place lies in the file it names, so that an editor can go there.
    @Test(arguments: broken) func `every diagnostic has a place within the file`(_ fixture: Fixture) {
        let count = fixture.text.split(separator: "\n", omittingEmptySubsequences: false).count
        for diagnostic in fixture.read().diagnostics where diagnostic.place.file == fixture.path {
            #expect((1...count).contains(diagnostic.place.line), "\(diagnostic)")
            #expect(diagnostic.place.column >= 1, "\(diagnostic)")
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: broken + good)
    func `a file without any one of its lines is read or refused`(_ fixture: Fixture) {
        let lines = fixture.text.split(separator: "\n", omittingEmptySubsequences: false)
        for index in lines.indices {
            var other = fixture
            other.text = (lines[..<index] + lines[(index + 1)...]).joined(separator: "\n")
            let (configuration, diagnostics) = other.read()
            #expect((configuration == nil) == diagnostics.contains { $0.severity == .error })
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a file cut off anywhere is read or refused`() throws {
        var fixture = try #require(Self.good.first { $0.name == "full" })
        let bytes = Array(fixture.text.utf8)
        for end in stride(from: 0, to: bytes.count, by: 11) {
            fixture.text = String(decoding: bytes[..<end], as: UTF8.self)
            let (configuration, diagnostics) = fixture.read()
            #expect((configuration == nil) == diagnostics.contains { $0.severity == .error })
        }
    }
}
