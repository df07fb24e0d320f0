package import AdapterKit
import Formats
import WorkerConfiguration

/// The answers to the questions of a setup so far, and the next question.
package struct SetupAnswers: Sendable {
    /// The origin of the ring's first key.
    package enum Key: Sendable, Equatable {
        case generated
        case file(String)
    }

    /// The standard answer about the brokers: one broker in the worker, at a port that is seldom taken.
    package static let embeddedBroker = "embedded:19092"

    private let registry: AdapterRegistry
    package private(set) var vendor: AdapterRegistration?
    /// The app's name, which is also the name of its key ring.
    package private(set) var app: String?
    /// The values of the adapter's settings, by name.
    package private(set) var settings: [String: String] = [:]
    package private(set) var key: Key?
    package private(set) var brokers: String?
    package private(set) var hasGateway: Bool?

    /// No answers yet, about the vendors of `registry`.
    package init(registry: AdapterRegistry) { self.registry = registry }

    /// Notes that the app is added to a configuration with these brokers, which has or has not a gateway already.
    package mutating func add(toBrokers brokers: String) {
        self.brokers = brokers
        hasGateway = false
    }

    /// The next question; nil if there is an answer to each.
    package var next: SetupQuestion? {
        guard let vendor else { return .vendor }
        if app == nil { return .app }
        if let key = vendor.settings.first(where: { $0.isRequired && settings[$0.name] == nil }) {
            return .setting(key)
        }
        if key == nil { return .key }
        if brokers == nil { return .brokers }
        return hasGateway == nil ? .gateway : nil
    }

    /// Returns the answer to `question` of someone who has no other wish; nil for a question without such an answer.
    package func standard(for question: SetupQuestion) -> String? {
        switch question {
        case .vendor, .setting, .key: nil
        case .app: vendor?.name
        case .brokers: Self.embeddedBroker
        case .gateway: "no"
        }
    }

    /// Notes the answer `text` to `question`.
    ///
    /// - Throws: `SetupMistake`; the answers are unchanged then.
    package mutating func answer(_ question: SetupQuestion, _ text: String) throws(SetupMistake) {
        switch question {
        case .vendor: vendor = try registration(text)
        case .app: app = try Self.checked(app: text)
        case .setting(let key): settings[key.name] = try Self.checked(text, for: key)
        case .key: key = text.isEmpty ? .generated : .file(text)
        case .brokers: brokers = try Self.checked(brokers: text)
        case .gateway: hasGateway = try Self.isYes(text)
        }
    }

    /// Notes the setting that an option gives as `name=value`. The vendor must be known.
    ///
    /// - Throws: `SetupMistake`; the answers are unchanged then.
    package mutating func set(_ text: String) throws(SetupMistake) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw SetupMistake("--set is name=value, such as --set app_id=ID") }
        let known = vendor?.settings ?? []
        guard let key = known.first(where: { $0.name == parts[0] }) else {
            let names = known.map(\.name)
            let meant =
                Spelling.nearest(to: parts[0], among: names).map { "did you mean \($0)?" }
                ?? (names.isEmpty ? "it has none; remove --set" : "known: \(names.joined(separator: ", "))")
            throw SetupMistake(
                "the adapter \(vendor?.name ?? "") has no setting \(PlainName.quote(parts[0])); \(meant)")
        }
        try answer(.setting(key), parts[1])
    }

    /// Returns the first configuration; nil while a question is open.
    ///
    /// - Parameters:
    ///   - isPlaintext: whether brokers on other machines are called without TLS.
    ///   - backend: the hash of the gateway's API key; nil for a setup without the gateway.
    package func configuration(isPlaintext: Bool, backend: String?) -> StarterConfiguration? {
        guard next == nil, let vendor, let app, let brokers else { return nil }
        let values = vendor.settings.compactMap { key in settings[key.name].map { (key: key, value: $0) } }
        return StarterConfiguration(
            adapter: vendor.name, vendor: vendor.vendor, app: app, settings: values, brokers: brokers,
            isPlaintext: isPlaintext, backend: backend)
    }

    // MARK: Checks

    private func registration(_ name: String) throws(SetupMistake) -> AdapterRegistration {
        if let registration = registry[name] { return registration }
        throw SetupMistake(registry.error(without: name, shown: PlainName.quote(name)))
    }

    private static func checked(app name: String) throws(SetupMistake) -> String {
        if let flaw = PlainName.flaw(of: name) {
            throw SetupMistake("\(PlainName.quote(name)) cannot be an app's name: it \(flaw); write \(PlainName.rule)")
        }
        guard name != Configuration.App.unknown else {
            throw SetupMistake("no app can be called \(name); write another name")
        }
        return name
    }

    private static func checked(_ text: String, for key: SettingKey) throws(SetupMistake) -> String {
        let isRight =
            switch key.kind {
            case .boolean: ["true", "false"].contains(text)
            case .integer: Int64(text) != nil
            case .choice(let words): words.contains(text)
            case .text, .texts: !text.isEmpty
            }
        guard isRight else {
            throw SetupMistake("\(PlainName.quote(text)) is no value of the setting \(key.name): \(key.summary)")
        }
        return text
    }

    private static func checked(brokers text: String) throws(SetupMistake) -> String {
        if Configuration.Kafka.isEmbedded(text) { return text }
        do throws(BrokerList.Problem) { return try BrokerList(text).text } catch {
            throw SetupMistake("the brokers: \(error)")
        }
    }

    private static func isYes(_ text: String) throws(SetupMistake) -> Bool {
        switch text.lowercased() {
        case "yes", "y": return true
        case "no", "n": return false
        default: throw SetupMistake("answer yes or no")
        }
    }
}

/// A question whose answer a first configuration needs.
package enum SetupQuestion: Sendable, Equatable {
    case vendor
    case app
    /// A required setting of the vendor's adapter.
    case setting(SettingKey)
    /// The file of an existing key, or a new key.
    case key
    case brokers
    case gateway

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

/// A refused answer to a question of a setup, with its fix.
package struct SetupMistake: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
