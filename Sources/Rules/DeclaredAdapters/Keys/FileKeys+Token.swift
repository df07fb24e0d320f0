import AdapterKit
import YAMLReading
import Yams

extension FileKeys {
    /// The keys of a token.
    enum Token {
        static let algorithm = FileKey.text("algorithm", isRequired: true)
        static let header = FileKey.node("header", .object)
        static let claims = FileKey.node(
            "claims", .object, isRequired: true, "The payload as it is in a token, placeholders in double braces.")
        static let namesUser = FileKey.bool(
            "names_user", "Whether a claim contains {{user}}; false where a site or an app is the subject.")
        static let lifetime = FileKey.node(
            "lifetime", .either([.section(Lifetime.all), .section(Lifetime.aged)]), isRequired: true,
            "The bounds of exp, or age_limit where the vendor measures the age from iat.")

        static let all = [
            algorithm.description, header.description, claims.description, namesUser.description,
            lifetime.description,
        ]
    }

    /// The keys of a token's lifetime.
    enum Lifetime {
        private static let range: ClosedRange<Duration> = .seconds(1)...(.seconds(31_536_000))

        static let standard = FileKey.seconds(
            "standard", in: range, isRequired: true, "The lifetime unless configured, such as 1h.")
        static let from = FileKey.seconds("from", in: range, isRequired: true, "The shortest lifetime, such as 1m.")
        static let to = FileKey.seconds("to", in: range, isRequired: true, "The longest lifetime, such as 24h.")

        static let ageLimit = FileKey.seconds(
            "age_limit", in: range, "The age by iat above which the vendor refuses a token, which has no exp.")

        static let all = [standard.description, from.description, to.description]
        /// The keys of a token without `exp`.
        static let aged = [ageLimit.description.required]
    }

    /// The keys of the functions of claims. A schema cannot distinguish a function from a claim, so it has none of
    /// them.
    enum Function {
        private static let range: ClosedRange<Duration> = .seconds(1)...(.seconds(315_360_000))

        static let by = FileKey.text("by", isRequired: true, "$one_of: the setting that selects.")
        static let granted = FileKey.text("is", isRequired: true, "$vouched: the member of the edge.")
        static let otherwise = FileKey.node("otherwise", .any, isRequired: true, "$vouched: the value without it.")
        static let plus = FileKey.seconds("plus", in: range, "$now, $expires: the time after it.")
        static let minus = FileKey.seconds("minus", in: range, "$now, $expires: the time before it.")
        static let unit = FileKey.anyText(
            "unit", form: .choice(["seconds", "milliseconds"]), "$now, $expires: the unit.")
        static let with = FileKey.anyText("with", form: .text(), "$join: the text between the parts.")
        static let of = FileKey.node("of", .any, isRequired: true, "$join: the parts.")
    }

    /// The keys of the key's handover.
    enum Key {
        static let encoding: FileKey<SecretEncoding> = .choice("encoding")
        static let derived = FileKey.section("derived", [hmac.description])
        static let hmac = FileKey.text("hmac", form: .choice(["{{date}}"]), isRequired: true)
        static let madeBy = FileKey<KeyHandover.Origin>.word(
            "made_by", Dictionary(uniqueKeysWithValues: FileWords.makers.map { ($0.name, $0.value) }),
            "The party that makes the key: ours, vendor or shared.")
        static let olderTokens = FileKey<KeyHandover.Overlap>.word(
            "older_tokens", Dictionary(uniqueKeysWithValues: FileWords.olderTokens.map { ($0.name, $0.value) }),
            "The fate of the older key's tokens: stay_good or are_refused.")
        static let beforePromotion = FileKey.texts("before_promotion", isRequired: true)
        static let afterPromotion = FileKey.texts("after_promotion")
        static let afterRetirement = FileKey.texts("after_retirement")

        static let all = [
            encoding.description, derived.description, madeBy.description, olderTokens.description,
            beforePromotion.description, afterPromotion.description, afterRetirement.description,
        ]
    }
}
