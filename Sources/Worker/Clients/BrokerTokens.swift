import BrokerTokens
import Glibc
import WorkerConfiguration

extension Configuration.Kafka {
    /// Where this process' clients get the brokers' tokens; nil where they need none.
    var tokens: SharedDesks.Entry? {
        guard let oauth, !isEmbedded else { return nil }
        return SharedDesks.entry(for: oauth) { name in getenv(name).map { String(cString: $0) } }
    }
}
