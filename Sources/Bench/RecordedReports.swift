package import AdapterKit
package import Foundation

/// The adapters' recorded reports: beside the program, where the build places them, or where a package installs them, in
/// `share/remint` beside the program's `bin`.
package enum RecordedReports {
    /// The folder of a vendor's.
    ///
    /// - Throws: `BenchFailed` where it is not there.
    package static func folder(of registration: AdapterRegistry.Registration) throws -> URL {
        let program = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        let installed = program?.deletingLastPathComponent().appending(path: "share/remint")
        let bundle = "remint_\(registration.vendor)Adapter.resources"
        let candidates = [program, Bundle.main.bundleURL, installed].compactMap {
            $0?.appending(path: "\(bundle)/Fixtures")
        }
        guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            throw BenchFailed(
                "the recorded reports are not there: \(bundle) belongs beside the program, or in ../share/remint")
        }
        return found
    }
}

extension JSONDecoder {
    /// The adapter of `registration` with `settings`.
    package static func adapter(_ registration: AdapterRegistry.Registration, settings: [UInt8]) throws -> any Adapter {
        let decoder = JSONDecoder()
        decoder.userInfo = ConfiguredAdapter.userInfo(for: registration)
        return try decoder.decode(ConfiguredAdapter.self, from: Data(settings)).adapter
    }
}
