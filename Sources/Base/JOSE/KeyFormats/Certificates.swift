import COpenSSL

/// X.509 certificates, as far as a file of them is looked at before something else trusts it.
public enum Certificates {
    /// Returns the number of certificates in `text`, in PEM (RFC 7468, section 5). Text between them is a comment.
    ///
    /// - Throws: `JOSEError` with `.invalidKey` where there is none, or one of them cannot be read.
    public static func count(inPEM text: String) throws(JOSEError) -> Int {
        defer { clearCryptoErrors() }
        clearCryptoErrors()
        var isWhole = false
        let count = unsafe PEM.withBIO(SecretBytes(copying: text.utf8)) { bio in
            var count = 0
            while let certificate = unsafe remint_read_certificate(bio) {
                unsafe X509_free(certificate)
                count += 1
            }
            isWhole = remint_is_end_of_pem() == 1
            return count
        }
        guard let count, isWhole else {
            throw JOSEError(.invalidKey, "the certificate after the first \(count ?? 0) cannot be read")
        }
        guard count > 0 else { throw JOSEError(.invalidKey, "no certificate in PEM") }
        return count
    }
}
