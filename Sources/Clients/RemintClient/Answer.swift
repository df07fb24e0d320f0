/// A token of the signed-in user, with the call of the vendor's SDK that accepts it.
///
/// Its description has no token, so that a log of it reveals none.
public struct Answer: Sendable, Hashable {
    /// The call of the vendor's SDK that accepts a token.
    public struct Apply: Sendable, Hashable, Codable {
        /// The call, such as `setSdkAuthenticationSignature(jwt)`.
        public let call: String
        /// The id that the call needs beside the token, if it needs one.
        public let identifier: String?
    }

    /// The app of the gateway's configuration.
    public let app: String
    /// The vendor's name, such as `braze`.
    public let vendor: String
    /// The vendor's token, a compact JWS. A secret: keep it in memory alone.
    public let token: String
    /// The expiry in seconds since 1970, by the server's clock.
    public let expiresAt: Int64
    /// The seconds from the answer to the expiry, for devices whose clock is wrong. 0 or more.
    public let expiresIn: Int64
    /// The server's time in seconds since 1970.
    public let serverTime: Int64
    /// The token's version. A newer token of a user has a higher version; pass no lower one to an SDK after a higher one.
    public let version: Int64
    /// The challenge that the token answers, as with Dotdigital.
    public let challenge: String?
    /// The call of the vendor's SDK that accepts the token.
    public let apply: Apply
}

extension Answer: Decodable {
    enum CodingKeys: String, CodingKey {
        case app, vendor, token, version, challenge, apply
        case expiresAt = "expires_at"
        case expiresIn = "expires_in"
        case serverTime = "server_time"
    }
}

extension Answer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The app, the version and the expiry, without the token.
    public var description: String { "\(app) version \(version), expires at \(expiresAt)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror without the token, for `dump`.
    public var customMirror: Mirror {
        Mirror(self, children: ["app": app, "version": version, "expiresAt": expiresAt])
    }
}
