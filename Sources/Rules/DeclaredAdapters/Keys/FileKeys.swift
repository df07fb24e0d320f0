import AdapterKit
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

    static let all = [
        vendor.description, name.description, about.description, sources.description, ours.description,
        missing.description, platforms.description, settings.description, vouched.description, report.description,
        ignoreCase.description,
        codes.description, unknownCode.description, noCode.description, token.description, key.description,
        device.description, loop.description, vendorSays.description, tests.description,
    ]
}

extension FileKeys {
    /// The keys of the SDKs that were read.
    enum Platforms {
        static let read = FileKey.texts("read", "The SDKs that were read, each with its version.")
        static let notRead = FileKey.node("not_read", .texts, "The vendor's other SDKs.")

        static let all = [read.description, notRead.description]
    }

    /// The keys of a setting of the app.
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

        static let all = [
            type.description, of.description, required.description, standard.description, startsWith.description,
            form.description, about.description,
        ]
    }

    /// The keys of a member that the edge vouches for.
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

        static let all = [
            type.description, of.description, form.description, atMost.description, required.description,
            about.description,
        ]
    }

    /// The keys of the device's call.
    enum Device {
        static let call = FileKey.text("call", isRequired: true)
        static let wantsIdentifier = FileKey.bool("wants_identifier")

        static let all = [call.description, wantsIdentifier.description]
    }

    /// The keys of the loop guard.
    enum Loop {
        static let tokens = FileKey.integer("tokens", in: 1...10)
        static let countsEveryReport = FileKey.bool("counts_every_report")

        static let all = [tokens.description, countsEveryReport.description]
    }

    /// The keys of the vendor's checks.
    enum Verdicts {
        static let first = FileKey.node("first", .list(of: .section(Rule.all)))
        static let otherwise = FileKey.node(
            "otherwise", .answer, isRequired: true,
            "The vendor's answer to a token that it refuses, such as 401 Unauthorized.")
        static let unchecked = FileKey.texts("unchecked")
        static let optional = FileKey.texts("optional")

        static let all = [first.description, otherwise.description, unchecked.description, optional.description]

        /// The keys of one check.
        enum Rule {
            static let check: FileKey<VerdictRules.Check> = .choice("if", isRequired: true)
            static let members = FileKey.texts("members")
            static let says = FileKey.node("says", .answer, isRequired: true)

            static let all = [check.description, members.description, says.description]
        }
    }
}
