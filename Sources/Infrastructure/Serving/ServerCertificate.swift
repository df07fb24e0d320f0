import Foundation
package import JOSE
package import NIOSSL
package import Wiring
package import YAMLReading

/// The certificate of a server of this program: a certificate chain and its key, in PEM files.
package struct ServerCertificate: Sendable {
    /// The configuration of a server that speaks TLS 1.2 or later.
    package let configuration: TLSConfiguration
    package let end: UnixTime

    /// Loads `files`.
    ///
    /// - Parameters:
    ///   - section: The configuration's name of the files, for messages.
    ///   - now: The time at which the certificate must have begun to be valid. An expired one is accepted: it is the
    ///     readiness that reports it.
    /// - Throws: `WorkerError` if other users can read the key, if a file has no certificate or no key, if they do not
    ///   belong together, or if the certificate is not valid yet.
    package static func load(
        _ files: (chain: String, key: String), named section: String,
        at now: UnixTime = UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6))
    ) throws(WorkerError) -> ServerCertificate {
        let text: [UInt8]
        do { text = try GuardedFile.instructions(files.chain, limit: 1 << 20) } catch {
            throw WorkerError("\(section).certificate: \(files.chain) \(error.message)")
        }
        let chain = (try? NIOSSLCertificate.fromPEMBytes(text)) ?? []
        guard let leaf = chain.first else {
            throw WorkerError("\(section).certificate: there is no certificate in PEM form in \(files.chain)")
        }
        // Read here for the sake of its modes; the library reads it by itself, so that no copy of it stays on the heap.
        do { _ = try GuardedFile.read(files.key) } catch {
            throw WorkerError("\(section).key: \(files.key) \(error.message)")
        }
        guard let key = try? NIOSSLPrivateKey(file: files.key, format: .pem) else {
            throw WorkerError("\(section).key: there is no private key in PEM form in \(files.key)")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        // The library's own default is TLS 1.0.
        configuration.minimumTLSVersion = .tlsv12
        // With another key every handshake would fail. The library compares the two when it makes a context.
        guard (try? NIOSSLContext(configuration: configuration)) != nil else {
            throw WorkerError(
                "\(section).key: \(files.key) is not the key of the first certificate in \(files.chain); replace both files by a pair"
            )
        }
        let start = UnixTime(seconds: Int64(leaf.notValidBefore))
        guard start <= now else {
            throw WorkerError(
                "\(section).certificate: \(files.chain) is not valid before \(start), and it is \(now); set the clock, or use a certificate that is valid now"
            )
        }
        return ServerCertificate(configuration: configuration, end: UnixTime(seconds: Int64(leaf.notValidAfter)))
    }
}

package struct CertificateEnd: Sendable, Equatable {
    /// The warning comes 30 days before the end.
    private static let notice: Int64 = 30 * 86_400

    private let key: String
    private let end: UnixTime

    /// The end of the certificate that the configuration's `key` names.
    package init(_ key: String, _ end: UnixTime) {
        self.key = key
        self.end = end
    }

    /// Returns an error for a certificate that is over at `now`, and a warning for one that ends within 30 days; nil for
    /// any other.
    package func diagnostic(at place: FileLocation, _ now: UnixTime) -> Diagnostic? {
        guard end < now.advanced(bySeconds: Self.notice) else { return nil }
        guard end > now else {
            return Diagnostic(.error, at: place, "\(key): the certificate expired at \(end); replace its files")
        }
        return Diagnostic(
            .warning, at: place,
            "\(key): the certificate expires at \(end), in \(now.left(until: end)); replace its files")
    }
}
