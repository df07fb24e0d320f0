import Formats
import Hummingbird
import HummingbirdCore
import Serving

/// The gateway's calls, by their paths.
enum PickupCall: Equatable {
    case reports(app: String)
    case token(app: String)
    case stream(app: String)
    case live
    case ready
    case file(PickupResources)

    static let mostBytes = 1024

    /// Parses the path of a request's target; nil for a path that is no call. A call has one spelling, because a proxy's
    /// rules compare paths: no empty part, and no escape that its app's name does not need.
    init?(target: String) {
        let path = Self.path(of: target)
        guard path.first == "/", path.utf8.count <= Self.mostBytes else { return nil }
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        switch parts.count {
        case 1:
            guard let file = PickupResources(rawValue: String(parts[0])) else { return nil }
            self = .file(file)
        case 2 where parts[0] == "health" && parts[1] == "live": self = .live
        case 2 where parts[0] == "health" && parts[1] == "ready": self = .ready
        case 4, 5:
            guard parts[0] == "v1", parts[1] == "apps", !parts[2].isEmpty, let app = Self.name(parts[2]) else {
                return nil
            }
            switch parts[3...].joined(separator: "/") {
            case "reports": self = .reports(app: app)
            case "token": self = .token(app: app)
            case "token/stream": self = .stream(app: app)
            default: return nil
            }
        default: return nil
        }
    }

    /// Returns the path of a target. The library takes the first part after two slashes for a host.
    private static func path(of target: String) -> String {
        target.first == "/" ? String(target.prefix { $0 != "?" }) : URI(target).path
    }

    private static func name(_ part: Substring) -> String? {
        part.contains("%") ? PercentEncoding.text(writtenAs: Array(part.utf8)[...]) : String(part)
    }

    /// Returns whether the path of a target is longer than any call's.
    static func isTooLong(_ target: String) -> Bool { path(of: target).utf8.count > mostBytes }

    var name: String {
        switch self {
        case .reports: "reports"
        case .token: "token"
        case .stream: "stream"
        case .live, .ready: "health"
        case .file: "file"
        }
    }

    static func kind(of request: HTTPRequest) -> ConnectionGuard.Kind {
        switch request.path.flatMap({ PickupCall(target: $0) }) {
        case .reports, .token, .stream: .call
        case .live, .ready: .health
        case .file, nil: .other
        }
    }

    var method: HTTPRequest.Method { if case .reports = self { .post } else { .get } }
}

/// The files that the gateway serves. They are part of the program, which needs no other file for them.
enum PickupResources: String, Sendable {
    /// The calls, as OpenAPI 3.1.
    case openAPI = "openapi.json"
    case client = "remint.js"
    /// The same client as a module, which imports the script beside it.
    case module = "remint.mjs"
    case types = "remint.d.mts"

    var bytes: [UInt8] {
        switch self {
        case .openAPI: PackageResources.openapi_json
        case .client: PackageResources.remint_js
        case .module: PackageResources.remint_mjs
        case .types: PackageResources.remint_d_mts
        }
    }

    var contentType: String {
        switch self {
        case .openAPI: "application/json"
        case .client, .module: "text/javascript; charset=utf-8"
        case .types: "text/plain; charset=utf-8"
        }
    }
}
