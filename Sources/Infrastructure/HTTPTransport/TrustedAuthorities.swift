import JOSE
import NIOSSL

/// The certificate authorities that take the place of the system's.
package struct TrustedAuthorities: Sendable {
    /// The largest file, in bytes: several times the size of a system's own bundle.
    private static let limit = 1 << 20

    let certificates: [NIOSSLCertificate]

    /// The certificates in the PEM file `path`, of which there is at least one.
    ///
    /// - Throws: `EndpointError` where there is none, and where other accounts could change the file: an account that
    ///   can write it decides which servers the program trusts.
    package init(file path: String) throws(EndpointError) {
        let contents: [UInt8]
        do throws(GuardedFileError) {
            contents = try GuardedFile.instructions(path, limit: Self.limit)
        } catch { throw EndpointError("certificate_authority: \(error.path) \(error.message)") }
        certificates = (try? NIOSSLCertificate.fromPEMBytes(contents)) ?? []
        guard !certificates.isEmpty else {
            throw EndpointError("certificate_authority: there is no certificate in PEM form in \(path)")
        }
    }
}
