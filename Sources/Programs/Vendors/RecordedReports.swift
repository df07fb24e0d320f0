package import AdapterKit
package import AdapterTestKit
import DeclaredAdapters
import DeclaredTesting
package import Foundation

/// The adapters' recorded reports: beside the program, where the build places them, or where a package installs them, in
/// `share/remint` beside the program's `bin`.
package enum RecordedReports {
    /// Returns a vendor's fixtures: those beside the program, or those in its file.
    ///
    /// - Throws: `ReportsMissing`, or the error in them.
    package static func fixtures(of registration: AdapterRegistry.Registration) throws -> AdapterFixtures {
        if let declared = DeclaredVendor.shipped.first(where: { $0.description.name == registration.name }) {
            guard let tests = declared.tests else {
                throw ReportsMissing("\(registration.name) has no recorded reports")
            }
            return try tests.fixtures()
        }
        return try AdapterFixtures(directory: folder(of: registration))
    }

    private static func folder(of registration: AdapterRegistry.Registration) throws -> URL {
        let program = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        let installed = program?.deletingLastPathComponent().appending(path: "share/remint")
        let bundle = "remint_\(registration.vendor)Adapter.resources"
        let candidates = [program, Bundle.main.bundleURL, installed].compactMap {
            $0?.appending(path: "\(bundle)/Fixtures")
        }
        guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            throw ReportsMissing(
                "the recorded reports are not there: \(bundle) belongs beside the program, or in ../share/remint")
        }
        return found
    }
}

/// The error of a vendor whose recorded reports cannot be found.
package struct ReportsMissing: Error, CustomStringConvertible {
    package let description: String

    fileprivate init(_ description: String) { self.description = description }
}

extension JSONDecoder {
    /// Returns the adapter of `registration` with `settings`.
    package static func adapter(_ registration: AdapterRegistry.Registration, settings: [UInt8]) throws -> any Adapter {
        let decoder = JSONDecoder()
        decoder.userInfo = ConfiguredAdapter.userInfo(for: registration)
        return try decoder.decode(ConfiguredAdapter.self, from: Data(settings)).adapter
    }
}
