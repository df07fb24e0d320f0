package import Formats
package import JOSE

/// Who signs a request to AWS. However it is printed, nothing of it shows.
package struct AWSCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// The name of the secret.
    let accessKeyID: String
    /// The secret.
    let secret: SecretBytes
    /// What comes with credentials that end; nil for others.
    let sessionToken: String?
    /// When they end; nil for never.
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
