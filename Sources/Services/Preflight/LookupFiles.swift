import JOSE
import WorkerConfiguration

/// The files that look-ups name, looked at before a worker starts. Those of secrets were when they were read.
enum LookupFiles {
    /// Returns the errors in the look-up files of `apps`, each file and place once.
    static func diagnostics(for apps: [Configuration.App], source: ConfigurationSource) -> [Diagnostic] {
        var seen: Set<FileLocation> = []
        return apps.flatMap { $0.lookup?.files ?? [] }
            .filter { $0.content == .certificates && seen.insert($0.place).inserted }
            .compactMap { trouble($0, source) }
    }

    /// Returns the error of a file of certificates one of which cannot be used.
    private static func trouble(_ file: Configuration.Lookup.File, _ source: ConfigurationSource) -> Diagnostic? {
        switch source.file(file.path) {
        case .refused(let reason): return Diagnostic(.error, at: file.place, "\(file.path) \(reason)")
        case .contents(let text):
            do throws(JOSEError) { _ = try Certificates.count(inPEM: text) } catch {
                return Diagnostic(.error, at: file.place, "\(file.path) \(error.message)")
            }
            return nil
        }
    }
}
