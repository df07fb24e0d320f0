import COpenSSL

/// The library behind this module.
public enum CryptoLibrary {
    /// Its version, as the system has it.
    public static var version: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING)) }
}
