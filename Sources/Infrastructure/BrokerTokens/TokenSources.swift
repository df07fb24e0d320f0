import Kafka
import WorkerConfiguration

/// The sources that a configuration can name.
enum TokenSources {
    static func source(
        for settings: Configuration.OAuth, environment: @escaping @Sendable (String) -> String?
    ) -> any TokenSource {
        // The reader of the configuration has refused those that are none.
        let extensions = settings.extensions.compactMap { try? BearerToken.Extension($0.name, $0.value) }
        switch settings.source {
        case .file(let path): return FileTokens(path: path, extensions: extensions)
        case .clientCredentials(let settings): return ClientCredentials(settings: settings, extensions: extensions)
        case .awsMSKIAM(let region):
            return MSKTokens(
                region: region, credentials: AWSCredentialChain(region: region, environment: environment),
                extensions: extensions)
        }
    }
}
