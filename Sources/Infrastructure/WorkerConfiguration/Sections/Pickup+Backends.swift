extension Configuration.Pickup {
    static let keysByName = SectionDescription(
        "api_keys",
        "Trusted backends, each under its name: they name the user themselves. remint pickup-key makes a key and its hash.",
        sections: [
            SectionDescription(
                "*", "", keys: [APIKey.hashKey.description, APIKey.appsKey.description, APIKey.rate.description])
        ], ifAbsent: .nothing)
}

extension Configuration.Pickup.APIKey {
    static let hashKey = DeclaredKey(
        KeyDescription(
            "hash", .digest, example: "64 hexadecimal digits", isRequired: true,
            "The key's SHA-256; the key itself is kept nowhere.")
    ) { section, name -> String? in
        guard let (hash, node) = section.requiredText(name, example: "64 hexadecimal digits") else { return nil }
        guard hash.utf8.count == 64, hash.allSatisfy(\.isHexDigit) else {
            section.diagnostics.error(
                node, "\(section.path(name)) must be 64 hexadecimal digits, the key's SHA-256")
            return nil
        }
        return hash
    }

    static let appsKey = DeclaredKey.texts("apps", example: "[shop-ios]", "The apps it is for. By default all.")

    static let rate: Setting<Self> = .integer(
        "rate", \.rate, in: 1...1_000_000,
        """
        Requests a second with this key, in place of the address's limit. Twice as many may come at once. \
        user_rate and total_rate hold besides.
        """)
}
