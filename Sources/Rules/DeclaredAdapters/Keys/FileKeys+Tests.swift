import AdapterKit
import YAMLReading
import Yams

extension FileKeys {
    /// The keys of the tests in the file.
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

        static let all = [
            now.description, key.description, apps.description, reports.description, tokens.description,
            verdicts.description, refused.description,
        ]
    }

    /// The keys of a test's key.
    enum TestKey {
        static let id = FileKey.anyText("id")
        static let secret = FileKey.anyText("secret")
        static let encoding: FileKey<SecretEncoding> = .choice("encoding")
        static let pem = FileKey.anyText("pem")

        static let form = FileForm.shared(
            "key", .section([id.description, secret.description, encoding.description, pem.description]))
    }

    /// The keys of a test's app.
    enum TestApp {
        static let settings = FileKey.json("settings", form: .object)
        static let reissue = FileKey.json("reissue")

        static let all = [settings.description, reissue.description]
    }

    /// The keys of a recorded report.
    enum TestReport {
        static let name = FileKey.anyText("name")
        static let sdk = FileKey.text("sdk", isRequired: true)
        static let app = FileKey.text("app", isRequired: true)
        static let reported = FileKey.text("reported", form: .scalar, isRequired: true)
        static let report = FileKey.json("report")
        static let reportText = FileKey.anyText("report_text")
        static let origin = FileKey.anyText("origin")
        static let expect = FileKey.section("expect", Expectation.all, isRequired: true)

        static let all = [
            name.description, sdk.description, app.description, reported.description, report.description,
            reportText.description, origin.description, expect.description,
        ]
    }

    /// The keys of the outcome that a report must have.
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

        static let all = [
            rejected.description, remedy.description, reason.description, user.description, challenge.description,
            failedToken.description,
        ]
    }

    /// The keys of a token's test.
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

        static let all = [
            app.description, user.description, challenge.description, vouched.description, at.description,
            lives.description, uuid.description, key.description, header.description, payload.description,
            token.description, rejected.description,
        ]
    }

    /// The keys of settings that the adapter must refuse.
    enum Refusal {
        static let settings = FileKey.json("settings", form: .object, isRequired: true)
        static let because = FileKey.anyText("because")

        static let all = [settings.description, because.description]
    }
}
