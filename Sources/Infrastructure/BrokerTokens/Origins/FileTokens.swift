package import Formats
package import JOSE
package import Kafka

/// Tokens from a file that somebody else keeps fresh, such as a projected token of Kubernetes.
package struct FileTokens: TokenSource {
    let path: String
    let extensions: [BearerToken.Extension]

    package init(path: String, extensions: [BearerToken.Extension] = []) {
        self.path = path
        self.extensions = extensions
    }

    package var revision: FileRevision? { FileRevision(of: path) }

    package func token(at now: UnixTime) async throws(TokenFailure) -> BearerToken {
        let text = try Self.read(path, "kafka.oauth.token_file")
        guard let claims = JWTClaims(text), let expiry = claims.expiry else {
            throw TokenFailure("kafka.oauth.token_file \(path) holds no JWT with an exp")
        }
        guard expiry > now else {
            throw TokenFailure("the token in \(path) expired at \(expiry); check the program that renews it")
        }
        do throws(KafkaError) {
            return try BearerToken(
                text, expiry: expiry.milliseconds, principal: claims.subject ?? "", extensions: extensions)
        } catch { throw TokenFailure("\(path): \(error.message)") }
    }

    /// Reads a file that other accounts may read, as its provider makes it, but not change.
    static func read(_ path: String, _ name: String) throws(TokenFailure) -> String {
        do throws(GuardedFileError) {
            let bytes = try GuardedFile.read(path, .instructions).trimmingLineEnd()
            return bytes.withBytes { String(decoding: $0, as: UTF8.self) }
        } catch { throw TokenFailure("\(name) \(error.path) \(error.message)") }
    }
}
