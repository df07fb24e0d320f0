extension Configuration.Pickup {
    static let keysByName = SectionDescription(
        "api_keys",
        """
        API keys of trusted backends, each under the backend's name. A backend itself names the user of a call. remint \
        pickup-key makes a key and its hash.
        """,
        sections: [
            SectionDescription(
                "*", "", keys: [APIKey.hashKey.description, APIKey.appsKey.description, APIKey.rate.description])
        ], ifAbsent: .nothing)
}

extension Configuration.Pickup.APIKey {
    static let hashKey = FileKey(
        "hash", .digest, example: "64 hexadecimal digits", isRequired: true,
        "SHA-256 of the key. Remint stores the key itself nowhere."
    ) { section, name -> String? in
        guard let (hash, node) = section.requiredText(name, example: "64 hexadecimal digits") else { return nil }
        guard hash.utf8.count == 64, hash.allSatisfy(\.isHexDigit) else {
            section.diagnostics.error(
                node, "\(section.path(name)) must be 64 hexadecimal digits, the key's SHA-256")
            return nil
        }
        return hash
    }

    static let appsKey = FileKey.list(
        "apps", example: "[shop-ios]", "Apps that the backend can reach with this key. Default: all apps.")

    static let rate: Setting<Self> = .integer(
        "rate", \.rate, in: 1...1_000_000,
        """
        Maximum number of requests a second with this key, instead of the limit of the address. Twice as many requests \
        may come at once. user_rate and total_rate apply in addition.
        """)
}
