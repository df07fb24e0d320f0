/// The files that the gateway serves. They are part of the program, which needs no other file for them.
enum PickupResources: String, Sendable {
    /// The calls, as OpenAPI 3.1.
    case openAPI = "openapi.json"
    /// A client for browsers, as a script.
    case client = "remint.js"
    /// The same client as a module, which imports the script beside it.
    case module = "remint.mjs"
    /// The types of both, for TypeScript.
    case types = "remint.d.mts"

    /// The file, byte for byte.
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
