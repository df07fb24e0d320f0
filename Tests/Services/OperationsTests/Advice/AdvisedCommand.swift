import JOSE

@testable import Keyring
@testable import Operations

/// A command that an operator types, as a refusal names it.
enum AdvisedCommand: Equatable {
    case prepare(String?), promote, reissue, resume, abort, retire
    case revoke(String?, promoting: String?)
    case keysGenerate, promoteVersion(String), retireVersion(String)
    /// The file of the campaign is moved away.
    case moveAway

    /// The commands that `refusal` names, in its order.
    static func commands(in refusal: String) -> [AdvisedCommand] {
        var found: [AdvisedCommand] = []
        if refusal.contains("move rotation.json away") { found.append(.moveAway) }
        if refusal.contains("generate or import a version ID") { found.append(.keysGenerate) }
        var rest = refusal[...]
        while let range = rest.firstRange(of: "remint ") {
            rest = rest[range.upperBound...]
            let text = rest.prefix { !",;:()".contains($0) }
            if let command = AdvisedCommand(text.split(separator: " ").map(String.init)) { found.append(command) }
        }
        return found
    }

    private init?(_ words: [String]) {
        func value(_ option: String) -> String? {
            words.firstIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        }
        switch words.prefix(2).joined(separator: " ") {
        case "rotate prepare": self = .prepare(value("--key-version"))
        case "rotate promote": self = value("--key-version").map { .promoteVersion($0) } ?? .promote
        case "rotate reissue": self = .reissue
        case "rotate resume": self = .resume
        case "rotate abort": self = .abort
        case "rotate retire": self = value("--key-version").map { .retireVersion($0) } ?? .retire
        case "rotate revoke": self = .revoke(value("--key-version"), promoting: value("--promote"))
        case "keys generate": self = .keysGenerate
        default: return nil
        }
    }
}
