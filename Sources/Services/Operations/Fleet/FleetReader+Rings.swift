import AdapterKit
import Glibc
import JOSE
import Keyring
import WorkerConfiguration

extension FleetReader {
    /// Returns the problems of active versions that no listing shows: the key's file is missing, or an app's vendor
    /// does not accept the algorithm.
    func problems(of rings: [RingReport]) -> [String] {
        let active = Dictionary(
            rings.compactMap { ring in ring.versions.first { $0.state == .active }.map { (ring.name, $0) } }
        ) { first, _ in first }
        let missing = configuration.keys.compactMap { key -> String? in
            guard let folder = key.path, let version = active[key.name], !version.file.isEmpty else { return nil }
            let file = version.file.hasPrefix("/") ? version.file : "\(folder)/\(version.file)"
            guard access(file, F_OK) != 0, errno == ENOENT else { return nil }
            return "the key of \(version.id) of the key ring \(key.name) is missing: put the file \(file) back"
        }
        let misfits = configuration.apps.compactMap { app -> String? in
            guard let version = active[app.key], version.algorithm != app.adapter.algorithm else { return nil }
            return
                "the app \(app.name) needs \(app.adapter.algorithm.rawValue), and the key ring \(app.key) signs with \(version.algorithm.rawValue)"
        }
        return missing + misfits
    }
}
