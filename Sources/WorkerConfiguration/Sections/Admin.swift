extension Configuration {
    /// The admin server.
    public struct Admin: Sendable {
        /// The address, without brackets.
        public var host = "127.0.0.1"
        /// The port; 0 for any.
        public var port = 9464
        /// The place of `listen` in the file, or of the section if `listen` is left out.
        public var place: FileLocation?
        /// Further names that requests may ask for in `Host`, besides the address and this machine's own.
        public var hosts: [String] = []
        /// The file with the token that everything but the page and the probes asks for; nil for none.
        public var tokenFile: String?
        /// Whether it may be reached from other machines and ask for no token.
        public var isOpen = false
        /// The PEM files of certificate chain and key; nil for plain text.
        public var certificate: (chain: String, key: String)?
    }
}

extension Configuration.Admin {
    static let section = SectionDescription(
        "admin",
        """
        The admin server: a page at /, /status, /metrics, /health/live, /health/ready, /apps, /keys/RING/jwks.json. It answers no \
        page but its own. Without this section there is none.
        """,
        keys: [listenKey, hostsKey, tokenKey, openKey],
        sections: [
            SectionDescription(
                "tls", "Certificate and key. Without them the admin server speaks plain text.",
                keys: [certificateKey, privateKeyKey], isRare: true, ifAbsent: .nothing)
        ], ifAbsent: .nothing)

    static let listenKey = KeyDescription(
        "listen", .address, standard: "127.0.0.1:9464",
        "The address and the port. Beyond this machine token_file is asked for, or open.")
    static let hostsKey = KeyDescription(
        "hosts", .list(of: .text), example: "[remint.internal]",
        "Names that requests may ask for besides the address and localhost.")
    static let tokenKey = KeyDescription(
        "token_file", .path, example: "secrets/admin-token",
        """
        A file with a token, 16 bytes or more, mode 600, that everything but /health and the page without its figures asks for: \
        Authorization: Bearer TOKEN.
        """)
    static let openKey = KeyDescription(
        "open", .bool, standard: "false",
        "Whether other machines may ask without a token, as inside a network where nobody else can reach it.")
    static let certificateKey = KeyDescription(
        "certificate", .path, example: "tls/admin.pem", isRequired: true, "The certificate and its chain, in PEM.")
    static let privateKeyKey = KeyDescription(
        "key", .path, example: "tls/admin-key.pem", isRequired: true, "The private key, in PEM, mode 600.")
}
