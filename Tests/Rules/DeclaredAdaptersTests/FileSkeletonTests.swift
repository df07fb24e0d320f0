import DeclaredAdapters
import DeclaredTesting
import Foundation
import Testing
import YAMLReading

/// The file that a new vendor's author fills in.
@Suite struct FileSkeletonTests {
    private func skeleton() throws -> String { try #require(FileSkeleton(name: "our-vendor")).text }

    @Test func `the skeleton has no error, and a warning at each value to fill in`() throws {
        let text = try skeleton()
        let (vendor, found) = DeclaredVendor.load(text, file: "our-vendor.yaml")
        #expect(vendor?.description.name == "our-vendor")
        let warnings = found.filter { $0.severity == .warning }
        #expect(warnings.count == text.components(separatedBy: "\"FILL IN: ").count - 1)
        #expect(warnings.count > 8)
        #expect(warnings.allSatisfy { $0.message.hasPrefix("FILL IN: ") && $0.place.line > 1 })
        #expect(!found.contains { $0.severity == .error })
    }

    @Test func `the skeleton's tests fail for the values to fill in alone`() throws {
        let vendor = try Places.vendor(skeleton(), file: "our-vendor.yaml")
        let failures = FileTestRun(vendor, file: "our-vendor.yaml").failures()
        #expect(failures.count == 1, "\(failures)")
        #expect(failures.first?.message.contains("values to fill in") == true)
        #expect(failures.first?.place.line == vendor.unfilled.first?.line)
    }

    @Test func `the tests pass once every value is filled in`() throws {
        let vendor = try Places.vendor(skeleton().replacing("FILL IN: ", with: ""), file: "our-vendor.yaml")
        #expect(FileTestRun(vendor, file: "our-vendor.yaml").failures().map(\.description) == [])
        #expect(vendor.unfilled.isEmpty)
    }

    @Test(arguments: ["", "-a", "Our", "a b", "../a", "a.yaml", "ä", String(repeating: "a", count: 41)])
    func `a name that no vendor can have makes no skeleton`(_ name: String) {
        #expect(FileSkeleton(name: name) == nil)
    }
}
