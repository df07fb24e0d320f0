import JOSE
package import NIOSSL
package import Wiring

/// The certificate of a server of this program: a certificate chain and its key, in PEM files.
package enum ServerCertificate {
    /// Loads `files` for a server that speaks TLS 1.2 or later.
    ///
    /// - Parameter section: The configuration's name of the files, for messages.
    /// - Throws: `WorkerError` if other users can read the key, or if a file has no certificate or no key.
    package static func load(_ files: (chain: String, key: String), named section: String) throws(WorkerError)
        -> TLSConfiguration
    {
        let chain = (try? NIOSSLCertificate.fromPEMFile(files.chain)) ?? []
        guard !chain.isEmpty else {
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
        return configuration
    }
}
