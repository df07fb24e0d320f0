/// A token of the signed-in user, with the call of the vendor's SDK that accepts it.
///
/// The description of an answer contains no token, so a log of an answer does not reveal the token.
public struct Answer: Sendable, Hashable {
    /// The call of the vendor's SDK that accepts a token.
    public struct Apply: Sendable, Hashable, Codable {
        /// The call, such as `setSdkAuthenticationSignature(jwt)`.
        public let call: String
        /// The user's id, if the SDK's call needs this id in addition to the token; otherwise nil.
        public let identifier: String?
    }

    /// The app of the gateway's configuration.
    public let app: String
    /// The vendor's name, such as `braze`.
    public let vendor: String
    /// The vendor's token, a compact JWS. The token is a secret: keep it in memory only.
    public let token: String
    /// The expiry of the token in seconds since 1970, by the gateway's clock.
    public let expiresAt: Int64
    /// The seconds from the answer to the expiry, 0 or more, for devices whose clock is wrong.
    public let expiresIn: Int64
    /// The time of the gateway's clock, in seconds since 1970.
    public let serverTime: Int64
    /// The version of the token. A newer token of a user has a higher version.
    ///
    /// Never pass an SDK a token with a lower version after one with a higher version.
    public let version: Int64
    /// The challenge that the token answers, for vendors with challenges such as Dotdigital; nil without a challenge.
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
