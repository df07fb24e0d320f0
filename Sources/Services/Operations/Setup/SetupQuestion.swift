package import AdapterKit

/// A question whose answer a first configuration needs.
package enum SetupQuestion: Sendable, Equatable {
    /// The vendor, by the name of its adapter.
    case vendor
    /// The app's name.
    case app
    /// A required setting of the vendor's adapter.
    case setting(SettingKey)
    /// The file of an existing key, or a new key.
    case key
    /// The brokers.
    case brokers
    /// Whether devices call the gateway.
    case gateway

    /// The option that answers the question.
    package var option: String {
        switch self {
        case .vendor: "--vendor NAME"
        case .app: "--app NAME"
        case .setting(let key): "--set \(key.name)=VALUE"
        case .key: "--generate or --import FILE"
        case .brokers: "--brokers host:port"
        case .gateway: "--gateway or --own-edge"
        }
    }

    /// The question in words.
    package var words: String {
        switch self {
        case .vendor: "Vendor, such as braze or onesignal"
        case .app: "Name of the app"
        case .setting(let key): "\(key.name): \(key.summary)"
        case .key: "File of the private key; empty for a new key"
        case .brokers: "Brokers as host:port, or embedded:PORT for one in the worker"
        case .gateway: "Do devices call Remint's gateway? no: an edge of your own (yes or no)"
        }
    }
}
