package import Formats
import JOSE

/// The sources of AWS's credentials, in the order of AWS's own tools. They are the environment, a role for a pod's web
/// identity, the shared file, and the container's own endpoint. Credentials that expire are fetched again for each
/// token.
package struct AWSCredentialChain: Sendable {
    let region: String
    let environment: @Sendable (String) -> String?

    package init(region: String, environment: @escaping @Sendable (String) -> String?) {
        self.region = region
        self.environment = environment
    }

    /// - Throws: `TokenFailure` where there are none, or those that the environment speaks of cannot be got.
    package func credentials(at now: UnixTime) async throws(TokenFailure) -> AWSCredentials {
        if let id = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") {
            return AWSCredentials(
                accessKeyID: id, secret: SecretBytes(copying: secret.utf8), sessionToken: value("AWS_SESSION_TOKEN"))
        }
        if let role = value("AWS_ROLE_ARN"), let file = value("AWS_WEB_IDENTITY_TOKEN_FILE") {
            return try await assumed(role, with: file)
        }
        if let found = try shared() { return found }
        if let relative = value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            return try await container("http://169.254.170.2\(relative)")
        }
        if let full = value("AWS_CONTAINER_CREDENTIALS_FULL_URI") { return try await container(full) }
        throw TokenFailure(
            "no credentials of AWS: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or write ~/.aws/credentials"
        )
    }

    private func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }

    // MARK: The shared file

    private func shared() throws(TokenFailure) -> AWSCredentials? {
        let named = value("AWS_SHARED_CREDENTIALS_FILE")
        guard let path = named ?? value("HOME").map({ "\($0)/.aws/credentials" }),
            named != nil || FileRevision(of: path) != nil
        else { return nil }
        let text: String
        do throws(GuardedFileError) {
            text = try GuardedFile.read(path).withBytes { String(decoding: $0, as: UTF8.self) }
        } catch { throw TokenFailure("AWS's credentials file \(error.path) \(error.message)") }
        let profile = value("AWS_PROFILE") ?? "default"
        let members = Self.members(of: profile, in: text)
        guard let id = members["aws_access_key_id"], let secret = members["aws_secret_access_key"] else {
            throw TokenFailure("\(path) has no profile \(profile) with aws_access_key_id and aws_secret_access_key")
        }
        return AWSCredentials(
            accessKeyID: id, secret: SecretBytes(copying: secret.utf8), sessionToken: members["aws_session_token"])
    }

    /// Returns the members of the section `profile` in a file of sections and `name = value`.
    static func members(of profile: String, in text: String) -> [String: String] {
        var members: [String: String] = [:]
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingWhiteSpace()
            if line.hasPrefix("["), line.hasSuffix("]") {
                isInside = line.dropFirst().dropLast().trimmingWhiteSpace() == profile
            } else if isInside, !line.hasPrefix("#"), !line.hasPrefix(";"), let sign = line.firstIndex(of: "=") {
                let name = line[..<sign].trimmingWhiteSpace().lowercased()
                members[name] = String(line[line.index(after: sign)...].trimmingWhiteSpace())
            }
        }
        return members
    }

    // MARK: Endpoints

    /// Returns the credentials of the container's agent (Amazon ECS, EKS Pod Identity).
    private func container(_ url: String) async throws(TokenFailure) -> AWSCredentials {
        let host = try Self.trusted(url)
        var headers: [(String, String)] = []
        if let file = value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            headers.append(("Authorization", try FileTokens.read(file, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")))
        } else if let token = value("AWS_CONTAINER_AUTHORIZATION_TOKEN") {
            headers.append(("Authorization", token))
        }
        let answer = try await TokenEndpoint(url: url, host: host).ask("GET", headers: headers)
        return try Self.credentials(
            answer, token: "Token", expiry: answer["Expiration"]?.string.flatMap(RFC3339.parse), from: host)
    }

    /// Credentials in plain text are for this machine and the agents' own addresses alone.
    private static func trusted(_ text: String) throws(TokenFailure) -> String {
        let end = text.firstIndex(of: "?") ?? text.endIndex
        guard let url = try? EndpointURL(parsing: String(text[..<end])),
            url.isEncrypted || url.isLoopback
                || ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"].contains(url.authority)
        else {
            throw TokenFailure(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or http to this machine or the container's agent")
        }
        return url.authority
    }

    /// Returns the credentials of a role for the identity in `file` (AWS STS, AssumeRoleWithWebIdentity).
    private func assumed(_ role: String, with file: String) async throws(TokenFailure) -> AWSCredentials {
        let written = value("AWS_ENDPOINT_URL_STS") ?? "https://sts.\(region).amazonaws.com"
        guard let url = try? EndpointURL(parsing: written), url.isEncrypted || url.isLoopback else {
            throw TokenFailure("AWS_ENDPOINT_URL_STS must be an https URL")
        }
        let form = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", value("AWS_ROLE_SESSION_NAME") ?? "remint"),
            ("WebIdentityToken", try FileTokens.read(file, "AWS_WEB_IDENTITY_TOKEN_FILE")),
        ]
        let answer = try await TokenEndpoint(url: "\(url.text)/", host: url.authority).ask("POST", form: form)
        guard
            let found = answer["AssumeRoleWithWebIdentityResponse"]?["AssumeRoleWithWebIdentityResult"]?["Credentials"]
        else { throw TokenFailure("\(url.authority) answers without credentials") }
        // In seconds, with a fraction in some answers.
        let expiry = found["Expiration"]?.number.flatMap { Int64(exactly: $0.rounded(.down)) }
        return try Self.credentials(
            found, token: "SessionToken", expiry: expiry.map { UnixTime(seconds: $0) }, from: url.authority)
    }

    private static func credentials(
        _ answer: JSONValue, token: String, expiry: UnixTime?, from host: String
    ) throws(TokenFailure) -> AWSCredentials {
        guard let id = answer["AccessKeyId"]?.string, let secret = answer["SecretAccessKey"]?.string else {
            throw TokenFailure("\(host) answers without credentials")
        }
        return AWSCredentials(
            accessKeyID: id, secret: SecretBytes(copying: secret.utf8), sessionToken: answer[token]?.string,
            expiry: expiry)
    }
}

extension StringProtocol {
    fileprivate func trimmingWhiteSpace() -> Substring {
        var text = self[...]
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return Substring(text)
    }
}
