import AdapterKit

/// The words that a vendor's file has as values, each with its meaning. The page of the folder has them as tables, and the
/// skeleton as comments.
package enum FileWords {
    /// The types of settings and of members of `vouched`.
    static let types: [(name: String, meaning: String)] = [
        ("text", "a string that is not empty"),
        ("boolean", "true or false"),
        ("integer", "a whole number"),
        ("texts", "a list of strings"),
        ("choice", "one of the words under `of`"),
        ("algorithm", "one of the JOSE algorithms under `of`"),
        ("json", "a string that contains JSON"),
        ("object", "a JSON object"),
        ("list", "a JSON array"),
    ]

    static let makers: [(name: String, value: KeyHandover.Origin, meaning: String)] = [
        ("ours", .ours, "Remint makes the key pair, and the vendor gets the public key; never a shared secret"),
        ("vendor", .vendor, "the vendor makes the key, and `remint keys import` imports it"),
        ("shared", .shared, "either makes the secret, and both have it"),
    ]

    static let olderTokens: [(name: String, value: KeyHandover.Overlap, meaning: String)] = [
        ("stay_good", .several, "the vendor accepts several keys, so tokens of the older key stay valid"),
        ("are_refused", .none, "the vendor has one key, and refuses all tokens of the older one from the change on"),
    ]

    static let forms: [(name: String, meaning: String)] = [("uuid", "a UUID in lower case, with hyphens")]

    static let codeTypes: [(name: String, meaning: String)] = [
        ("number", "a number, or a string of digits"), ("text", "a string"), ("any", "a number or a string"),
    ]

    static let units: [(name: String, meaning: String)] = [
        ("seconds", "since 1970"), ("milliseconds", "since 1970"), ("rfc3339", "such as 2026-11-25T12:00:00Z"),
    ]

    /// The signs of `report.another_vendors`.
    static let strangerSigns: [(name: String, meaning: String)] = [
        ("no_code", "no code"), ("no_known_code", "no code that codes has"), ("no_user", "no member for the user"),
        ("other_members", "a member that is not in members"),
    ]

    static let evidence: [(name: String, meaning: String)] = [
        ("key", "bad signature, unknown key, malformed token, or a refusal without a cause"),
        ("expired", "the token is expired by the clock of the party that checked it"),
        ("revoked", "the vendor revoked the token; the remedy must mint"),
        ("none", "anything else, such as a wrong claim, no token, a limit; also when in doubt"),
    ]

    static let remedies: [(name: String, meaning: String)] = [
        ("mint", "a new token fixes the failure"),
        ("mint_once", "a new token may fix the failure; a second one does not help"),
        ("{ not_fixable: why }", "another token would fail the same way; a person must act"),
        ("{ not_for_us: why }", "nothing to do"),
    ]

    /// The encodings of a shared secret.
    static let encodings: [(name: String, meaning: String)] = [
        ("utf8", "the string's own bytes"), ("hex", "two digits a byte"), ("base64", "with padding"),
        ("base64url", "without padding"),
    ]

    /// The checks of `vendor_says.first`. A check catches the corruptions it names, and those of the checks it names.
    package static let checks: [(check: VerdictRules.Check, fails: String, catches: [String])] = [
        (.empty, "no byte", ["empty"]),
        (.blank, "nothing but white space", ["empty", "blank"]),
        (.parts, "not three parts", ["blank", "two_parts", "four_parts"]),
        (.header, "the header is no JSON object", ["blank", "header_not_json", "header_not_object"]),
        (.headerLacks, "the header lacks one of `members`", ["header", "no_key_id"]),
        (.algorithm, "`alg` is not the app's", ["header", "algorithm_none", "other_algorithm"]),
        (.payload, "the payload is no JSON object", ["blank", "payload_not_object"]),
        (
            .signature, "bad signature",
            [
                "parts", "algorithm", "trailing_garbage", "unknown_key", "flipped_signature", "no_key_id",
                "other_key_id",
            ]
        ),
        (.claimsLack, "the claims lack one of `members`", ["payload", "no_CLAIM"]),
        (.expiryType, "`exp` is no number; `iat` with `age_limit`", ["payload", "expiry_as_text", "no_exp"]),
        (.claims, "a claim is not as minted; not the user, not `exp`", ["payload", "no_CLAIM", "wrong_CLAIM"]),
        (.expired, "expired, or without an end", ["expired", "expiry_as_text", "no_exp"]),
        (.user, "the token names another user", ["payload", "no_CLAIM", "wrong_CLAIM"]),
    ]
}
