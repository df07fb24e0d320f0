import AdapterKit
import Formats
import YAMLReading
import Yams

/// The keys of a vendor's file, each declared once. The readers read them by their declarations, and the schema is made
/// of the same tables. This is the table of the file's top level; each section has its own.
enum FileKeys {
    static let vendor = FileKey.text("vendor", isRequired: true, "The vendor's own spelling of its name.")
    static let name = FileKey.text(
        "name", form: .text(pattern: "^[a-z0-9][a-z0-9-]*$"), isRequired: true, "The name that apps.*.adapter uses.")
    static let about = FileKey.text("about", isRequired: true, "The purpose of the tokens, in a line.")
    static let sources = FileKey.texts("sources", "The pages that the rules come from.")
    static let ours = FileKey.texts("ours", "Rules that the vendor does not document and that were chosen here.")
    static let missing = FileKey.node(
        "missing", .texts, "Facts that are not known; each is a warning of remint check.")
    static let platforms = FileKey.section(
        "platforms", Platforms.all, "The SDKs whose source was read for the rules, and those that were not read.")
    static let settings = FileKey.mapping(
        "settings", .mapping(of: .section(Setting.all)), "The keys of apps.*.settings.")
    static let vouched = FileKey.mapping(
        "vouched", .mapping(of: .section(Vouched.all)),
        "The members that the edge may vouch for beside the user; no report can state any of them.")
    static let report = FileKey.section("report", Report.all, isRequired: true)
    static let ignoreCase = FileKey.bool("ignore_case", "Whether codes' names are compared without regard to case.")
    static let codes = FileKey.node("codes", .list(of: Code.form, count: 1...Int.max), isRequired: true)
    static let unknownCode = FileKey.node("unknown_code", Code.form)
    static let noCode = FileKey.node("no_code", Code.form)
    static let token = FileKey.section("token", Token.all, isRequired: true)
    static let key = FileKey.section("key", Key.all, isRequired: true)
    static let device = FileKey.section("device", Device.all, isRequired: true)
    static let loop = FileKey.section("loop", Loop.all)
    static let vendorSays = FileKey.section("vendor_says", Verdicts.all, isRequired: true)
    static let tests = FileKey.section("tests", Tests.all)

    static let all: [KeyDescription] = .of(
        vendor, name, about, sources, ours, missing, platforms, settings, vouched, report, ignoreCase, codes,
        unknownCode, noCode, token, key, device, loop, vendorSays, tests)

    enum Platforms {
        static let read = FileKey.texts("read", "The SDKs that were read, each with its version.")
        static let notRead = FileKey.node("not_read", .texts, "The vendor's other SDKs.")

        static let all = [read.description, notRead.description]
    }

    enum Setting {
        static let types = ["text", "boolean", "integer", "choice", "algorithm", "texts", "json"]

        static let type = FileKey.text("type", form: .choice(types), isRequired: true)
        static let of = FileKey.texts("of", "The words or the algorithms of a choice.")
        static let required = FileKey.bool("required")
        static let standard = FileKey.node("default", .any)
        static let startsWith = FileKey.anyText("starts_with")
        static let form: FileKey<TextForm> = .choice(
            "form", "The form of a string: uuid, a UUID in lower case with hyphens.")
        static let about = FileKey.text("about", isRequired: true)

        static let all: [KeyDescription] = .of(type, of, required, standard, startsWith, form, about)
    }

    enum Vouched {
        static let type: FileKey<VouchedMember.Kind> = .choice("type")
        static let of = FileKey.texts("of", "The words that a string, or each string of a list, may be.")
        static let form: FileKey<TextForm> = .choice(
            "form", "The form of a string: uuid, a UUID in lower case with hyphens.")
        static let atMost = FileKey.integer(
            "at_most", in: 1...8192, "The longest value, in bytes of its JSON; 1024 if the key is absent.")
        static let required = FileKey.bool(
            "required", "Whether an event without the member is dead-lettered as missing_vouched.")
        static let about = FileKey.text("about", isRequired: true)

        static let all: [KeyDescription] = .of(type, of, form, atMost, required, about)
    }

    enum Device {
        static let call = FileKey.text("call", isRequired: true)
        static let wantsIdentifier = FileKey.bool("wants_identifier")

        static let all = [call.description, wantsIdentifier.description]
    }

    enum Loop {
        static let tokens = FileKey.integer("tokens", in: 1...10)
        static let countsEveryReport = FileKey.bool("counts_every_report")

        static let all = [tokens.description, countsEveryReport.description]
    }

    enum Verdicts {
        static let first = FileKey.node("first", .list(of: .section(Rule.all)))
        static let otherwise = FileKey.node(
            "otherwise", .answer, isRequired: true,
            "The vendor's answer to a token that it refuses, such as 401 Unauthorized.")
        static let unchecked = FileKey.texts("unchecked")
        static let optional = FileKey.texts("optional")

        static let all: [KeyDescription] = .of(first, otherwise, unchecked, optional)

        enum Rule {
            static let check: FileKey<VerdictRules.Check> = .choice("if", isRequired: true)
            static let members = FileKey.texts("members")
            static let says = FileKey.node("says", .answer, isRequired: true)

            static let all: [KeyDescription] = .of(check, members, says)
        }
    }

    enum Report {
        static let wrapped = FileKey.section("wrapped", Wrapped.all)
        static let members = FileKey.texts("members", "Every member some SDK sends or the app adds.")
        static let anotherVendors = FileKey.node(
            "another_vendors", .list(of: .list(of: .choice(StrangerSign.allCases.map(\.rawValue)))))
        static let belongs = FileKey.node(
            "belongs", .oneOrMore(.shared("belonging", .section(Belonging.all))),
            "A member that must equal a setting where the report has it, or a list of them.")
        static let userLimit = FileKey.anyText("user_limit", form: .text(pattern: "^[0-9]+ (bytes|characters)$"))
        static let userCharacters = FileKey.anyText(
            "user_characters", form: .text(pattern: "^\\[.+\\]$"),
            "The characters of ids, such as [A-Za-z0-9_-], or [^*] for all but those.")
        static let userNever = FileKey.texts("user_never", "Ids that have another meaning for the vendor.")
        static let anonymous = FileKey.text("anonymous")
        static let shapes = FileKey.node(
            "shapes", .list(of: .section(shape)))

        static let sdk = FileKey.text("sdk", isRequired: true, "The SDK's name, for the page.")
        static let when = FileKey.node(
            "when", .any, isRequired: true, "A member that no other shape has, or members with their values.")
        static let shape = [sdk.description, when.description] + Shape.all

        static let all =
            [Shape.user.description.required] + Shape.others
            + .of(wrapped, members, anotherVendors, belongs, userLimit, userCharacters, userNever, anonymous, shapes)
    }

    enum Shape {
        static let user = FileKey.node("user", .paths)
        static let nobody = FileKey.texts("nobody")
        static let code = FileKey.node("code", .paths)
        static let codeType: FileKey<CodeType> = .choice("code_type")
        static let message = FileKey.node("message", .paths)
        static let token = FileKey.node("token", .paths)
        static let noToken = FileKey.texts("no_token")
        static let tokenHash = FileKey.node("token_hash", .paths)
        static let passed = FileKey.node("passed", .paths)
        static let challenge = FileKey.node("challenge", .paths)
        static let time = FileKey.node("time", Time.form)
        static let deadline = FileKey.node("deadline", Time.form)
        static let usefulFor = FileKey.seconds("useful_for", in: .seconds(1)...(.seconds(86_400)))

        static let others: [KeyDescription] = .of(
            nobody, code, codeType, message, token, noToken, tokenHash, passed, challenge, time, deadline, usefulFor)

        static let all = [user.description] + others
    }

    enum Time {
        static let at = FileKey.node("at", .paths, isRequired: true, "The member that has the time.")
        static let unit: FileKey<ReportTime.Unit> = .choice(
            "unit", isRequired: true, "The form of the time: seconds, milliseconds or rfc3339.")

        static let form = FileForm.shared("time", .section([at.description, unit.description]))
    }

    enum Wrapped {
        static let names = FileKey.texts("in")
        static let depth = FileKey.integer("depth", in: 1...4)
        static let text = FileKey.bool("text")

        static let all: [KeyDescription] = .of(names, depth, text)
    }

    enum Belonging {
        static let at = FileKey.node("at", .paths, isRequired: true, "The member that names the app.")
        static let setting = FileKey.text(
            "is", isRequired: true, "The setting that it must equal, such as settings.app_id.")
        static let otherwise = FileKey.text(
            "otherwise", isRequired: true, "The reason for the refusal of another value.")

        static let all: [KeyDescription] = .of(at, setting, otherwise)
    }

    enum Code {
        static let name = FileKey.text("name", isRequired: true)
        static let about = FileKey.anyText("about")
        static let match = FileKey.node("match", .oneOrMore(.either([.scalar, .section(Match.all)])))
        static let evidence = FileKey.node(
            "evidence", .choice(Evidence.allCases.map(\.rawValue)), isRequired: true,
            """
            The fact about the failed token that the code proves: key (bad signature, unknown key, malformed), expired, revoked by \
            the vendor, or none.
            """)
        static let remedy = FileKey.node("remedy", Remedy.form, isRequired: true)
        static let signedBy = FileKey.section("signed_by", SignedBy.all)
        static let ifTokenNamesUser = FileKey.node("if_token_names_user", Remedy.form)
        static let hadNoToken = FileKey.bool("had_no_token")
        static let ahead = FileKey.bool("ahead")

        static let all: [KeyDescription] = .of(
            name, about, match, evidence, remedy, signedBy, ifTokenNamesUser, hadNoToken, ahead)

        static let form = FileForm.shared("code", .section(all))
    }

    enum Match {
        static let code = FileKey.node("code", .scalar)
        static let message = FileKey.anyText("message")
        static let condition = FileKey.node("where", .any)

        static let all: [KeyDescription] = .of(code, message, condition)
    }

    enum SignedBy {
        static let active = FileKey.node(
            "active", Remedy.form, isRequired: true, "The remedy if the active version signed the token.")
        static let older = FileKey.node(
            "older", Remedy.form, isRequired: true, "The remedy if another version signed the token.")

        static let all = [active.description, older.description]
    }

    /// The words of a remedy, and the keys of one with a reason.
    enum Remedy {
        static let words = ["mint", "mint_once"]
        static let allWords = words + [notFixable.name, notForUs.name]
        static let notFixable = FileKey.text("not_fixable")
        static let notForUs = FileKey.text("not_for_us")

        static let form = FileForm.shared(
            "remedy",
            .either([
                .choice(words), .section([notFixable.description.required]), .section([notForUs.description.required]),
            ]))
    }

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

        static let all: [KeyDescription] = .of(algorithm, header, claims, namesUser, lifetime)
    }

    enum Lifetime {
        private static let range: ClosedRange<Duration> = .seconds(1)...(.seconds(31_536_000))

        static let standard = FileKey.seconds(
            "standard", in: range, isRequired: true, "The lifetime unless configured, such as 1h.")
        static let from = FileKey.seconds("from", in: range, isRequired: true, "The shortest lifetime, such as 1m.")
        static let to = FileKey.seconds("to", in: range, isRequired: true, "The longest lifetime, such as 24h.")

        static let ageLimit = FileKey.seconds(
            "age_limit", in: range, "The age by iat above which the vendor refuses a token, which has no exp.")

        static let all: [KeyDescription] = .of(standard, from, to)
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

        static let all: [KeyDescription] = .of(
            encoding, derived, madeBy, olderTokens, beforePromotion, afterPromotion, afterRetirement)
    }

    enum Tests {
        static let now = FileKey.time("now", form: .moment)
        static let key = FileKey.node("key", TestKey.form)
        static let apps = FileKey.mapping("apps", .mapping(of: .section(TestApp.all)), isRequired: true)
        static let reports = FileKey.node(
            "reports", .list(of: .section(TestReport.all)), "Reports of each SDK, with their readings.")
        static let tokens = FileKey.node(
            "tokens", .list(of: .section(TestToken.all)), "Tokens, with the contents that they must have.")
        static let verdicts = FileKey.mapping(
            "verdicts", .mapping(of: .text()),
            "The vendor's answers to corrupted tokens; \"*\" is the one to all others.")
        static let refused = FileKey.node("refused", .list(of: .section(Refusal.all)))

        static let all: [KeyDescription] = .of(now, key, apps, reports, tokens, verdicts, refused)
    }

    enum TestKey {
        static let id = FileKey.anyText("id")
        static let secret = FileKey.anyText("secret")
        static let encoding: FileKey<SecretEncoding> = .choice("encoding")
        static let pem = FileKey.anyText("pem")

        static let form = FileForm.shared(
            "key", .section(.of(id, secret, encoding, pem)))
    }

    enum TestApp {
        static let settings = FileKey.json("settings", form: .object)
        static let reissue = FileKey.json("reissue")

        static let all = [settings.description, reissue.description]
    }

    enum TestReport {
        static let name = FileKey.anyText("name")
        static let sdk = FileKey.text("sdk", isRequired: true)
        static let app = FileKey.text("app", isRequired: true)
        static let reported = FileKey.text("reported", form: .scalar, isRequired: true)
        static let report = FileKey.json("report")
        static let reportText = FileKey.anyText("report_text")
        static let origin = FileKey.anyText("origin")
        static let expect = FileKey.section("expect", Expectation.all, isRequired: true)

        static let all: [KeyDescription] = .of(name, sdk, app, reported, report, reportText, origin, expect)
    }

    enum Expectation {
        static let rejected = FileKey.anyText("rejected")
        // Required unless the report is rejected.
        static let remedy = FileKey("remedy", .choice(Remedy.allWords)) {
            $0.requiredText($1)?.text
        }
        static let reason = FileKey("reason", .text()) { $0.requiredText($1)?.text }
        static let user = FileKey.anyText("user")
        static let challenge = FileKey.anyText("challenge")
        static let failedToken = FileKey.bool("failed_token")

        static let all: [KeyDescription] = .of(rejected, remedy, reason, user, challenge, failedToken)
    }

    enum TestToken {
        static let app = FileKey.text("app", isRequired: true)
        static let user = FileKey.text("user", isRequired: true)
        static let challenge = FileKey.anyText("challenge")
        static let vouched = FileKey.json("vouched", form: .object)
        static let at = FileKey.time("at", form: .moment)
        static let lives = FileKey.seconds("lives", in: .zero...(.seconds(31_536_000)))
        static let uuid = FileKey.anyText("uuid")
        static let key = FileKey.node("key", TestKey.form)
        static let header = FileKey.json("header", form: .object)
        static let payload = FileKey.json("payload", form: .object)
        static let token = FileKey.anyText("token")
        static let rejected = FileKey.anyText(
            "rejected", form: .text(), "The code with which there must be no token: missing_vouched.")

        static let all: [KeyDescription] = .of(
            app, user, challenge, vouched, at, lives, uuid, key, header, payload, token, rejected)
    }

    /// The keys of settings that the adapter must refuse.
    enum Refusal {
        static let settings = FileKey.json("settings", form: .object, isRequired: true)
        static let because = FileKey.anyText("because")

        static let all = [settings.description, because.description]
    }
}

/// The JSON Schema of vendors' files, made from the keys' declarations.
package enum FileSchema {
    package static var text: String {
        var schema = FormSchema(adapters: nil)
        let file = schema.schema(of: .section(FileKeys.all))
        let head = FormSchema.head(by: "remint adapter schema", title: "A vendor of Remint in one file")
        return SchemaValue.object(head + file + [("$defs", .object(schema.definitions))]).lines
    }
}
