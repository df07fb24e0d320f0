import JOSE
package import NIOSSL

/// What a server of this program shows whoever connects to it: a certificate chain and the key to it, in PEM files.
package enum ServerCertificate {
    /// What `files` hold, for a server that speaks TLS 1.2 or later.
    ///
    /// - Parameter section: how the configuration calls the files, for messages.
    /// - Throws: `WorkerError` for a key that others can read, and where certificate and key are none.
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
