import Access
import AdapterKit
@_spi(Decryption) import JOSE
import Serving
import Wiring
import WorkerConfiguration

/// The files that a gateway needs in addition to its configuration.
enum PickupFiles {
    /// Reads the private keys that open sealed tokens.
    ///
    /// - Throws: `PickupError` for a file that other accounts can read, or that holds no such key.
    static func sealKeys(_ pickup: Configuration.Pickup) throws(PickupError) -> [JWEDecryptionKey] {
        var keys: [JWEDecryptionKey] = []
        for path in pickup.sealKeys {
            let jwk: SecretBytes
            do { jwk = try GuardedFile.read(path) } catch {
                throw PickupError("pickup.seal_keys: \(path) \(error.message)")
            }
            do { keys.append(try JWEDecryptionKey(privateJWK: jwk)) } catch {
                throw PickupError("pickup.seal_keys: \(path) \(error.message)")
            }
        }
        return keys
    }

    /// Returns the nonces that proofs must name; nil where the configuration names no secret.
    ///
    /// - Throws: `PickupError` for a file that other accounts can read, and for a secret that is too short.
    static func nonces(_ pickup: Configuration.Pickup) throws(PickupError) -> ProofNonces? {
        guard let path = pickup.nonceSecret else { return nil }
        let secret: SecretBytes
        do { secret = try GuardedFile.read(path) } catch {
            throw PickupError("pickup.proof_nonce_secret: \(path) \(error.message)")
        }
        guard let nonces = ProofNonces(secret: secret) else {
            throw PickupError(
                "pickup.proof_nonce_secret: \(path) has fewer than \(ProofNonces.leastSecret) bytes; replace it: openssl rand -base64 48"
            )
        }
        return nonces
    }

    /// Returns the gateway's certificate; nil where the gateway speaks plain text.
    ///
    /// - Throws: `PickupError` for a key that other accounts can read, and where certificate and key cannot be used.
    static func tls(_ pickup: Configuration.Pickup) throws(PickupError) -> ServerCertificate? {
        guard let files = pickup.certificate else { return nil }
        do throws(WorkerError) { return try ServerCertificate.load(files, named: "pickup.tls") } catch {
            throw PickupError(error.description)
        }
    }
}

extension PickupFiles {
    /// A file that a gateway reads beside its configuration.
    struct Named {
        /// The configuration's key that names it.
        let key: String
        let path: String
        /// True if a change of the file applies only after a restart.
        var needsRestart = false
    }

    /// Returns every file that `pickup` names.
    ///
    /// - Parameter started: the gateway's section at the start, which names the certificate and the secret in use.
    static func all(of pickup: Configuration.Pickup, started: Configuration.Pickup) -> [Named] {
        let seals = pickup.sealKeys.map { Named(key: "pickup.seal_keys", path: $0) }
        let certificate = started.certificate.map { [$0.chain, $0.key] } ?? []
        let keySets = pickup.sessions.compactMap { session in
            session.keySetFile.map { Named(key: "pickup.\(session.name).jwks", path: $0) }
        }
        let secret = started.nonceSecret.map {
            Named(key: "pickup.proof_nonce_secret", path: $0, needsRestart: true)
        }
        return seals + certificate.map { Named(key: "pickup.tls", path: $0) } + keySets + (secret.map { [$0] } ?? [])
    }
}

// MARK: Checks

extension PickupFiles {
    /// Returns the reasons why `configuration` cannot be taken over. The content of a file of session keys is none: it
    /// may change at any time, and an issuer that has withdrawn its keys does not block other changes.
    static func reloadDiagnostics(for configuration: Configuration) -> [Diagnostic] {
        diagnostics(of: configuration) { session throws(PickupError) in _ = try KeySourceFile.document(of: session) }
    }

    /// Returns the problems of the gateway's files; empty where the configuration has no gateway.
    ///
    /// - Parameter keySet: checks the file of a session's keys.
    static func diagnostics(
        of configuration: Configuration, keySet: (Configuration.Pickup.Session) throws(PickupError) -> Void
    ) -> [Diagnostic] {
        guard let pickup = configuration.pickup, let place = pickup.place else { return [] }
        var diagnostics: [Diagnostic] = []
        func check(at own: FileLocation? = nil, _ body: () throws(PickupError) -> Void) {
            do throws(PickupError) { try body() } catch {
                diagnostics.append(Diagnostic(.error, at: own ?? place, "\(error)"))
            }
        }
        check { () throws(PickupError) in _ = try PickupFiles.sealKeys(pickup) }
        check { () throws(PickupError) in _ = try PickupFiles.nonces(pickup) }
        check { () throws(PickupError) in _ = try PickupFiles.tls(pickup) }
        for session in pickup.sessions where session.keySetFile != nil {
            check(at: pickup.keySetPlaces[session.name]) { () throws(PickupError) in try keySet(session) }
        }
        check { () throws(PickupError) in try DeviceApps(configuration, pickup).requireOne() }
        check { () throws(PickupError) in _ = try pickup.baseURL(of: pickup) }
        return diagnostics
    }
}
