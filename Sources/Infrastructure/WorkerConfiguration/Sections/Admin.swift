extension Configuration {
    /// The admin server.
    public struct Admin: Sendable, WithDefaults {
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
        keys: [listenKey.description, hostsKey.description, tokenKey.description, open.description],
        sections: [tls.section], ifAbsent: .nothing)

    static let tls = CertificateKeys(
        "Certificate and key. Without them the admin server speaks plain text.",
        examples: ("tls/admin.pem", "tls/admin-key.pem"))

    static let listenKey = DeclaredKey.address(
        "listen", standard: "\(Configuration.Admin().host):\(Configuration.Admin().port)",
        "The address and the port. Beyond this machine token_file is asked for, or open.")
    static let hostsKey = DeclaredKey.texts(
        "hosts", example: "[remint.internal]", orElse: "a list of host names, such as [remint.internal]",
        "Names that requests may ask for besides the address and localhost.")
    static let tokenKey = DeclaredKey.text(
        "token_file", form: .path, example: "secrets/admin-token",
        """
        A file with a token, 16 bytes or more, mode 600, that everything but /health and the page without its figures asks for: \
        Authorization: Bearer TOKEN.
        """)
    static let open: Setting<Self> = .bool(
        "open", \.isOpen,
        "Whether other machines may ask without a token, as inside a network where nobody else can reach it.")
}
