/// The files that the gateway serves. They are part of the program, which needs no other file for them.
enum PickupResources: Sendable {
    /// The calls, as OpenAPI 3.1.
    case openAPI
    /// A client for browsers.
    case client

    /// The file, byte for byte.
    var bytes: [UInt8] {
        switch self {
        case .openAPI: PackageResources.openapi_json
        case .client: PackageResources.remint_js
        }
    }
}
