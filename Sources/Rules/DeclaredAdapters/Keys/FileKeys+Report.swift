import AdapterKit
import YAMLReading
import Yams

extension FileKeys {
    /// The keys of a report.
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
        /// The keys of a shape in the list.
        static let shape = [sdk.description, when.description] + Shape.all

        static let all =
            [Shape.user.description.required] + Shape.others
            + [
                wrapped.description, members.description, anotherVendors.description, belongs.description,
                userLimit.description, userCharacters.description, userNever.description, anonymous.description,
                shapes.description,
            ]
    }

    /// The keys of a shape of reports. The report's own are the defaults of its shapes.
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

        static let others = [
            nobody.description, code.description, codeType.description, message.description, token.description,
            noToken.description, tokenHash.description, passed.description, challenge.description, time.description,
            deadline.description, usefulFor.description,
        ]

        static let all = [user.description] + others
    }

    /// The keys of a time in a report.
    enum Time {
        static let at = FileKey.node("at", .paths, isRequired: true, "The member that has the time.")
        static let unit: FileKey<ReportTime.Unit> = .choice(
            "unit", isRequired: true, "The form of the time: seconds, milliseconds or rfc3339.")

        static let form = FileForm.shared("time", .section([at.description, unit.description]))
    }

    /// The keys of a report's wrapping.
    enum Wrapped {
        static let names = FileKey.texts("in")
        static let depth = FileKey.integer("depth", in: 1...4)
        static let text = FileKey.bool("text")

        static let all = [names.description, depth.description, text.description]
    }

    /// The keys of the rule that a report belongs to the app.
    enum Belonging {
        static let at = FileKey.node("at", .paths, isRequired: true, "The member that names the app.")
        static let setting = FileKey.text(
            "is", isRequired: true, "The setting that it must equal, such as settings.app_id.")
        static let otherwise = FileKey.text(
            "otherwise", isRequired: true, "The reason for the refusal of another value.")

        static let all = [at.description, setting.description, otherwise.description]
    }

    /// The keys of a code.
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

        static let all = [
            name.description, about.description, match.description, evidence.description, remedy.description,
            signedBy.description, ifTokenNamesUser.description, hadNoToken.description, ahead.description,
        ]

        static let form = FileForm.shared("code", .section(all))
    }

    /// The keys of a code's match.
    enum Match {
        static let code = FileKey.node("code", .scalar)
        static let message = FileKey.anyText("message")
        static let condition = FileKey.node("where", .any)

        static let all = [code.description, message.description, condition.description]
    }

    /// The keys of a remedy by the signer of the failed token.
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
}
