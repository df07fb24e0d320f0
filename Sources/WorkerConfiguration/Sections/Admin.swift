extension Configuration {
    /// The admin server.
    public struct Admin: Sendable {
        /// The address, without brackets.
        public var host: String
        /// The port; 0 for any.
        public var port: Int
        /// Further names that requests may ask for in `Host`, besides the address and this machine's own.
        public var hosts: [String] = []
        /// The file with the token that everything but the probes asks for; nil for none.
        public var tokenFile: String?
    }
}

extension Configuration.Admin {
    static let section = SectionDescription(
        "admin",
        """
        The admin server: /metrics, /health/live, /health/ready, /apps, /keys/RING/jwks.json. It answers no browser's page. Without \
        this section there is none.
        """,
        keys: [listenKey, hostsKey, tokenKey], ifAbsent: .nothing)

    static let listenKey = KeyDescription(
        "listen", .address, example: "127.0.0.1:9464", isRequired: true, "The address and the port.")
    static let hostsKey = KeyDescription(
        "hosts", .list(of: .text), example: "[remint.internal]",
        "Names that requests may ask for besides the address and localhost.")
    static let tokenKey = KeyDescription(
        "token_file", .path, example: "secrets/admin-token",
        """
        A file with a token, 16 bytes or more, that everything but /health asks for: Authorization: Bearer TOKEN. Beyond this \
        machine set one.
        """)
}
