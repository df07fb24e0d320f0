import Foundation
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

    /// The longest path of a call.
    static let mostBytes = 1024

    /// Parses a path; nil for a path that is no call.
    init?(_ path: String) {
        guard path.utf8.count <= Self.mostBytes else { return nil }
        let parts = path.split(separator: "/")
        switch parts.count {
        case 1:
            guard let file = PickupResources(rawValue: String(parts[0])) else { return nil }
            self = .file(file)
        case 2 where parts[0] == "health" && parts[1] == "live": self = .live
        case 2 where parts[0] == "health" && parts[1] == "ready": self = .ready
        case 4, 5:
            guard parts[0] == "v1", parts[1] == "apps", let app = String(parts[2]).removingPercentEncoding else {
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

    /// The call's name in metrics.
    var name: String {
        switch self {
        case .reports: "reports"
        case .token: "token"
        case .stream: "stream"
        case .live, .ready: "health"
        case .file: "file"
        }
    }

    /// Returns the kind of a request, for the guard of its connection.
    static func kind(of request: HTTPRequest) -> ConnectionGuard.Kind {
        switch request.path.flatMap({ PickupCall(URI($0).path) }) {
        case .reports, .token, .stream: .call
        case .live, .ready: .health
        case .file, nil: .other
        }
    }

    var method: HTTPRequest.Method { if case .reports = self { .post } else { .get } }
}
