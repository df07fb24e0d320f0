import AdapterKit
@_spi(Decryption) import JOSE
import NIOSSL
import Worker
public import WorkerConfiguration

/// The files that a gateway needs beside its configuration.
enum PickupFiles {
    /// The private keys that open sealed tokens.
    ///
    /// - Throws: `PickupError` for a file that others can read, or that holds no such key.
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

    /// What the gateway shows; nil where it speaks plain text.
    ///
    /// - Throws: `PickupError` for a key that others can read, and where certificate and key are none.
    static func tls(_ pickup: Configuration.Pickup) throws(PickupError) -> TLSConfiguration? {
        guard let files = pickup.certificate else { return nil }
        do throws(WorkerError) { return try ServerCertificate.load(files, named: "pickup.tls") } catch {
            throw PickupError(error.description)
        }
    }
}

extension PickupFiles {
    /// When the certificate in the file `chain` expires; nil where there is none.
    static func certificateEnd(in chain: String?) -> UnixTime? {
        let certificates = chain.flatMap { try? NIOSSLCertificate.fromPEMFile($0) }
        return certificates?.first.map { UnixTime(seconds: Int64($0.notValidAfter)) }
    }
}

extension PickupService {
    /// What is wrong with the files of a gateway; nothing where the configuration has none.
    public static func diagnostics(for configuration: Configuration) -> [Diagnostic] {
        guard let pickup = configuration.pickup, let place = pickup.place else { return [] }
        var diagnostics: [Diagnostic] = []
        func check(_ body: () throws(PickupError) -> Void) {
            do throws(PickupError) { try body() } catch {
                diagnostics.append(Diagnostic(.error, at: place, "\(error)"))
            }
        }
        check { () throws(PickupError) in _ = try PickupFiles.sealKeys(pickup) }
        check { () throws(PickupError) in _ = try PickupFiles.tls(pickup) }
        if let place = pickup.session?.keySet, !place.contains("://") {
            check { () throws(PickupError) in _ = try KeySourceFile.document(in: place) }
        }
        return diagnostics
    }
}
