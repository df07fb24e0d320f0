import JOSE
import Keyring
import WorkerConfiguration

/// The files that look-ups name, looked at before a worker starts.
enum LookupFiles {
    /// What there is to say of those of `apps`, each file and place once.
    static func diagnostics(for apps: [Configuration.App], source: ConfigurationSource) -> [Diagnostic] {
        var seen: Set<Place> = []
        return apps.flatMap { $0.lookup?.files ?? [] }.filter { seen.insert($0.place).inserted }.compactMap { file in
            switch file.content {
            case .secret: exposure(file)
            case .certificates: trouble(file, source)
            }
        }
    }

    /// Not refused: some of those who hand secrets to containers leave their files open to everyone inside.
    private static func exposure(_ file: Configuration.Lookup.File) -> Diagnostic? {
        KeyFile.exposure(of: file.path).map { Diagnostic(.warning, at: file.place, "\(file.path) \($0)") }
    }

    private static func trouble(_ file: Configuration.Lookup.File, _ source: ConfigurationSource) -> Diagnostic? {
        do throws(JOSEError) {
            _ = try Certificates.count(inPEM: source.file(file.path) ?? "")
            return nil
        } catch {
            return Diagnostic(.error, at: file.place, "\(file.path) \(error.message)")
        }
    }
}
