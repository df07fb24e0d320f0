import ArgumentParser
package import DeclaredAdapters
import Foundation
package import YAMLReading

/// A vendor's file that a command is about.
package struct VendorFile {
    private let path: String

    package init(_ path: String) { self.path = path }

    /// Returns whether `name` is a file's path rather than a shipped vendor's name.
    package static func isPath(_ name: String) -> Bool {
        name.contains("/") || name.hasSuffix(".yaml") || name.hasSuffix(".yml")
    }

    /// Reads the vendor in the file, with the diagnostics about it.
    ///
    /// - Throws: `ValidationError` where it cannot be read.
    package func read() throws -> (vendor: DeclaredVendor?, diagnostics: [Diagnostic]) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw ValidationError(
                "\(path): \(isThere ? "cannot be read as a file of UTF-8 text" : "no such file"); name a vendor's file")
        }
        return DeclaredVendor.load(text, file: path)
    }

    /// Returns the vendor, after printing every problem of its file on standard error.
    ///
    /// - Throws: `ExitCode` 1 where there is none, `ValidationError`.
    package func loaded() throws -> DeclaredVendor {
        let (vendor, diagnostics) = try read()
        for diagnostic in diagnostics { Terminal.error("\(diagnostic)") }
        guard let vendor else { throw ExitCode.failure }
        return vendor
    }

    /// Returns the vendor with its tests, which the file must have.
    ///
    /// - Throws: as `loaded`, and `ValidationError` where there are no tests.
    package func tested() throws -> (vendor: DeclaredVendor, tests: FileTests) {
        let vendor = try loaded()
        guard let tests = vendor.tests else { throw ValidationError("\(path) has no tests") }
        return (vendor, tests)
    }
}
