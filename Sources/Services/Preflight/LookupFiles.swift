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

    /// Returns the error of a file that cannot be used, or that other users could change.
    private static func trouble(_ file: Configuration.Lookup.File, _ source: ConfigurationSource) -> Diagnostic? {
        do throws(JOSEError) {
            _ = try Certificates.count(inPEM: source.file(file.path) ?? "")
            return GuardedFile.exposure(of: file.path, .instructions).map {
                Diagnostic(.error, at: file.place, "\(file.path) \($0)")
            }
        } catch {
            return Diagnostic(.error, at: file.place, "\(file.path) \(error.message)")
        }
    }
}
