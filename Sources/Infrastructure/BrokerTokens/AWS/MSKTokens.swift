package import Formats
import JOSE
package import Kafka

/// Tokens for Amazon MSK with IAM: a signed URL that requests `kafka-cluster:Connect`, as AWS's own signers make it
/// (https://github.com/aws/aws-msk-iam-sasl-signer-python). Signing makes no request; fetching its credentials may.
package struct MSKTokens: TokenSource {
    let region: String
    let credentials: AWSCredentialChain
    let extensions: [BearerToken.Extension]

    /// The lifetime of a token, in seconds: AWS accepts no longer one.
    private static let life = 900

    package func token(at now: UnixTime) async throws(TokenFailure) -> BearerToken {
        try Self.token(try await credentials.credentials(at: now), region: region, at: now, extensions: extensions)
    }

    /// Returns the token that `credentials` sign. It ends with them at the latest.
    package static func token(
        _ credentials: AWSCredentials, region: String, at now: UnixTime, extensions: [BearerToken.Extension] = []
    ) throws(TokenFailure) -> BearerToken {
        let signature = SignatureV4(credentials: credentials, region: region, service: "kafka-cluster")
        let url: String
        do throws(JOSEError) {
            url = try signature.presignedURL(
                host: "kafka.\(region).amazonaws.com", parameters: [("Action", "kafka-cluster:Connect")], at: now,
                validFor: life)
        } catch { throw TokenFailure("the token for MSK cannot be signed: \(error.message)") }
        // Not part of what is signed; AWS's signers put it there as well.
        let text = Base64.url.encode(Array("\(url)&User-Agent=remint".utf8))
        // The signature counts whole seconds.
        let end = UnixTime(seconds: now.seconds).advanced(bySeconds: Int64(life))
        let expiry = min(end, credentials.expiry ?? end)
        do throws(KafkaError) {
            return try BearerToken(
                text, expiry: expiry.milliseconds, principal: credentials.accessKeyID, extensions: extensions)
        } catch { throw TokenFailure("the token for MSK: \(error.message)") }
    }
}
