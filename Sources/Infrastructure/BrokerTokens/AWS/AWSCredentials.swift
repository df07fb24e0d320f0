package import Formats
package import JOSE

/// The credentials that sign a request to AWS. Printing them shows none of their parts.
package struct AWSCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// The name of the secret.
    let accessKeyID: String
    /// The secret.
    let secret: SecretBytes
    /// The session token of credentials that expire; nil for others.
    let sessionToken: String?
    /// The time at which the credentials expire; nil for never.
    let expiry: UnixTime?

    package init(accessKeyID: String, secret: SecretBytes, sessionToken: String? = nil, expiry: UnixTime? = nil) {
        self.accessKeyID = accessKeyID
        self.secret = secret
        self.sessionToken = sessionToken
        self.expiry = expiry
    }

    package var description: String { "credentials of AWS" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
