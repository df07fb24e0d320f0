package import BrokerTokens
import Glibc
package import WorkerConfiguration

extension Configuration.Kafka {
    /// The source of the brokers' tokens for this process' clients; nil if they need none.
    package var tokens: SharedTokenProviders.Entry? {
        guard let oauth, !isEmbedded else { return nil }
        return SharedTokenProviders.entry(for: oauth) { name in getenv(name).map { String(cString: $0) } }
    }
}
