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
        if let declared = DeclaredVendor.shipped(registration.name) {
            guard let tests = declared.tests else {
                throw ReportsMissing("\(registration.name) has no recorded reports")
            }
            return try tests.fixtures()
        }
        return try AdapterFixtures(directory: folder(of: registration))
    }

    /// Returns a vendor's fixtures for a demonstration; nil for an adapter of the program's own that has none.
    ///
    /// - Throws: as `fixtures(of:)`.
    package static func demonstrated(of registration: AdapterRegistry.Registration) throws -> AdapterFixtures? {
        do { return try fixtures(of: registration) } catch let missing as ReportsMissing {
            guard AdapterRegistry.own.contains(where: { $0.name == registration.name }) else { throw missing }
            return nil
        }
    }

    /// Returns the folder `Fixtures` among the resources of the adapter's module. The folder of resources has the name of
    /// the package and of the module.
    private static func folder(of registration: AdapterRegistry.Registration) throws -> URL {
        let program = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        let installed = program?.deletingLastPathComponent().appending(path: "share/remint")
        let ending = "_\(registration.module ?? registration.vendor).resources"
        for folder in [program, Bundle.main.bundleURL, installed].compactMap(\.self) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for name in names.sorted() where name.hasSuffix(ending) {
                let fixtures = folder.appending(path: "\(name)/Fixtures")
                if FileManager.default.fileExists(atPath: fixtures.path) { return fixtures }
            }
        }
        throw ReportsMissing(
            "the recorded reports are not there: PACKAGE\(ending) belongs beside the program, or in ../share/remint")
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
