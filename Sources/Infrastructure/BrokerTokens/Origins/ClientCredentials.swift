package import Formats
import JOSE
package import Kafka
package import WorkerConfiguration

/// Tokens of an authorization server for a client by itself (RFC 6749, section 4.4).
package struct ClientCredentials: TokenSource {
    let settings: Configuration.OAuth.ClientCredentials
    let extensions: [BearerToken.Extension]
    /// The longest time of an answer.
    let timeout: Duration

    package init(
        settings: Configuration.OAuth.ClientCredentials, extensions: [BearerToken.Extension] = [],
        timeout: Duration = TokenEndpoint.longestAnswer
    ) {
        self.settings = settings
        self.timeout = timeout
        self.extensions = extensions
    }

    package func token(at now: UnixTime) async throws(TokenFailure) -> BearerToken {
        var form = [("grant_type", "client_credentials")]
        if let scope = settings.scope { form.append(("scope", scope)) }
        if let audience = settings.audience { form.append(("audience", audience)) }
        var headers: [(String, String)] = []
        let secret = try secret()
        switch settings.authentication {
        case .basic:
            // Both are encoded first (RFC 6749, section 2.3.1).
            let pair = [settings.clientID, secret].map(PercentEncoding.encoded).joined(separator: ":")
            headers.append(("Authorization", "Basic " + Base64.standard.encode(Array(pair.utf8))))
        case .post: form += [("client_id", settings.clientID), ("client_secret", secret)]
        }
        let endpoint = TokenEndpoint(
            url: settings.endpoint, host: settings.host, certificateAuthority: settings.certificateAuthority,
            timeout: timeout)
        let answer = try await endpoint.ask("POST", headers: headers, form: form)
        return try token(in: answer, at: now)
    }

    /// Reads the secret. It is read for each request, because it may have been replaced.
    private func secret() throws(TokenFailure) -> String {
        do throws(GuardedFileError) {
            return try GuardedFile.read(settings.secretFile).trimmingLineEnd().withBytes {
                String(decoding: $0, as: UTF8.self)
            }
        } catch { throw TokenFailure("kafka.oauth.client_secret_file \(error.path) \(error.message)") }
    }

    private func token(in answer: JSONValue, at now: UnixTime) throws(TokenFailure) -> BearerToken {
        guard let text = answer["access_token"]?.string else {
            throw TokenFailure("\(settings.host) answers without an access_token")
        }
        let claims = JWTClaims(text)
        // Some servers write it as a string.
        let life = answer["expires_in"].flatMap { $0.number ?? $0.string.flatMap(Double.init) }
        let told = life.flatMap { Int64(exactly: $0.rounded(.down)) }.map { now.advanced(bySeconds: $0) }
        guard let expiry = [told, claims?.expiry].compactMap({ $0 }).min() else {
            throw TokenFailure("\(settings.host) has neither expires_in nor, in a JWT, exp")
        }
        do throws(KafkaError) {
            return try BearerToken(
                text, expiry: expiry.milliseconds, principal: claims?.subject ?? settings.clientID,
                extensions: extensions)
        } catch { throw TokenFailure("\(settings.host): \(error.message)") }
    }
}
