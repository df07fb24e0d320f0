import Hummingbird
import NIOCore

/// What holds for every call: origins of pages, methods, problems in one form, and that each is counted.
struct PickupFrame: RouterMiddleware {
    typealias Context = PickupContext

    private static let exposed = "ETag, Location, Preference-Applied, Retry-After, WWW-Authenticate"
    private static let asked = "authorization, content-type, prefer, remint-device, dpop, if-none-match, last-event-id"

    let origins: Set<String>
    let metrics: PickupMetrics

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let call = Call(request.uri.path)
        var response: Response
        if request.method == .options, request.headers[.origin] != nil {
            response = Response(status: .noContent)
        } else if let call, !call.methods.contains(request.method) {
            response = wrongMethod(call)
        } else {
            response = try await answer(request, context, next)
        }
        addOrigin(request, &response)
        metrics.answered(call?.name ?? "other", Int(response.status.code))
        return response
    }

    private func answer(
        _ request: Request, _ context: Context, _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let problem as Problem {
            return problem.response
        } catch let error
            as HTTPError
        {
            return Problem(error.status, error.status == .notFound ? "not_found" : "invalid_request", "no such call")
                .response
        } catch is CancellationError { throw CancellationError() } catch {
            // Whatever it is, it is not the caller's doing, and what it says is nobody's business.
            return Problem.unavailable("the call could not be answered").response
        }
    }

    private func wrongMethod(_ call: Call) -> Response {
        var problem = Problem(.methodNotAllowed, "method_not_allowed", "this call has other methods")
        problem.allow = call.methods.map(\.rawValue).sorted().joined(separator: ", ")
        return problem.response
    }

    /// Pages of these origins may ask and read the answers (WHATWG Fetch, CORS protocol).
    private func addOrigin(_ request: Request, _ response: inout Response) {
        guard let origin = request.headers[.origin] else { return }
        response.headers[.vary] = "Origin"
        guard origins.contains(origin) || origins.contains("*") else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.exposed
        guard request.method == .options else { return }
        response.headers[.accessControlAllowMethods] = "GET, POST"
        response.headers[.accessControlAllowHeaders] = Self.asked
        response.headers[.accessControlMaxAge] = "600"
    }
}

/// The calls there are, by their paths.
private struct Call {
    let name: String
    let methods: Set<HTTPRequest.Method>

    init?(_ path: String) {
        let parts = path.split(separator: "/").map(String.init)
        switch parts.count {
        case 4 where parts[0] == "v1" && parts[1] == "apps" && parts[3] == "reports":
            (name, methods) = ("reports", [.post])
        case 4 where parts[0] == "v1" && parts[1] == "apps" && parts[3] == "token": (name, methods) = ("token", [.get])
        case 5 where parts[0] == "v1" && parts[1] == "apps" && parts[3] == "token" && parts[4] == "stream":
            (name, methods) = ("stream", [.get])
        case 1 where ["openapi.json", "remint.js"].contains(parts[0]): (name, methods) = ("file", [.get])
        case 2 where parts[0] == "health" && ["live", "ready"].contains(parts[1]): (name, methods) = ("health", [.get])
        default: return nil
        }
    }
}
