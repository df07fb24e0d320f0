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
        /// The address of the folder that OPERATION.md is in; nil for none.
        public var runbook: String?
        /// The PEM files of certificate chain and key; nil for plain text.
        public var certificate: (chain: String, key: String)?
    }
}

extension Configuration.Admin {
    static let section = SectionDescription(
        "admin",
        """
        Admin server of the worker. The server has a status page at /, and the paths /status, /fleet, /codes, \
        /metrics, /health/live, /health/ready, /apps and /keys/RING/jwks.json. The server refuses requests from web \
        pages of other sites. Without this section, the worker has no admin server.
        """,
        keys: [
            listenKey.description, hostsKey.description, tokenKey.description, open.description, runbookKey.description,
        ],
        sections: [tls.section], ifAbsent: .nothing)

    static let tls = CertificateKeys(
        "Certificate and private key of the admin server. Without this section, the admin server uses plain text.",
        examples: ("tls/admin.pem", "tls/admin-key.pem"))

    static let listenKey = FileKey.address(
        "listen", standard: "\(Configuration.Admin().host):\(Configuration.Admin().port)",
        """
        Address and port of the admin server. If other machines can reach this address, token_file or open: true is \
        required.
        """)
    static let hostsKey = FileKey.list(
        "hosts", example: "[remint.internal]", orElse: "a list of host names, such as [remint.internal]",
        """
        Host names that a request may have in its header Host, in addition to addresses and localhost. They also apply \
        to pickup.metrics.
        """)
    static let tokenKey = FileKey.text(
        "token_file", form: .path, example: "secrets/admin-token",
        """
        File with a token of 16 bytes or more, mode 600. Each request must then have the header Authorization: Bearer \
        TOKEN. Only /health, /codes and the status page without its figures need no token.
        """)
    static let runbookKey = FileKey.endpoint(
        "runbook", example: "https://wiki.example.com/remint/",
        """
        URL of the folder in which your engineers read OPERATION.md. The status page then links each problem to its \
        section. Default: the page names the section.
        """)
    static let open: Setting<Self> = .bool(
        "open", \.isOpen,
        """
        Whether other machines may call the admin server without a token. Set true only in a network in which nobody \
        else can reach the server.
        """)
}
