import AdapterKit
import Testing
import WorkerConfiguration

/// A string with references, and what becomes of it.
struct Reference: CustomTestStringConvertible, Sendable {
    let text: String
    let value: String
    var testDescription: String { text }
}

/// A file whose mistake is made of a secret.
struct SecretPlace: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: String

    init(_ name: String, _ text: String) {
        testDescription = name
        self.text = text
    }
}

@Suite("References to the environment")
struct EnvironmentTests {
    private static let environment = [
        "NAME": "value", "EMPTY": "", "DOLLAR": "${NAME}", "_a1": "x", "YES": "true", "NUMBER": "7",
        "SECRET": "hunter2-secret", "LINE": "value\n", "WINDOWS": "value\r\n", "LINES": "a\nb", "BELL": "a\u{7}",
        "PEM": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    ]

    private static func group(_ text: String) -> ConfigurationFile {
        var file = SampleText.replacing("keys:", "  group: \(text)\nkeys:")
        file.environment = environment
        return file
    }

    static let references = [
        Reference(text: "${NAME}", value: "value"), Reference(text: "'${NAME}'", value: "value"),
        Reference(text: "\"${NAME}\"", value: "value"),
        Reference(text: "a${NAME}b${NAME}", value: "avaluebvalue"), Reference(text: "${_a1}", value: "x"),
        Reference(text: "${LINE}", value: "value"), Reference(text: "${WINDOWS}", value: "value"),
        Reference(text: "${PEM}", value: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"),
        Reference(text: "${NAME:-other}", value: "value"), Reference(text: "${NONE:-other}", value: "other"),
        Reference(text: "${EMPTY:-other}", value: "other"), Reference(text: "x${EMPTY}", value: "x"),
        Reference(text: "x${NONE:-}", value: "x"),
        Reference(text: "'${NONE:-a:-b}'", value: "a:-b"), Reference(text: "'${NONE:-a b: c}'", value: "a b: c"),
        Reference(text: "$${NAME}", value: "${NAME}"), Reference(text: "a$${b", value: "a${b"),
        Reference(text: "$$${NAME}", value: "$${NAME}"),
        Reference(text: "$NAME", value: "$NAME"), Reference(text: "a$", value: "a$"),
        Reference(text: "a$$", value: "a$$"),
        Reference(text: "${DOLLAR}", value: "${NAME}"), Reference(text: "é${NAME}\u{1F600}", value: "évalue\u{1F600}"),
    ]

    @Test(arguments: references) func `a reference to the environment is replaced in a string`(_ reference: Reference)
        throws
    {
        #expect(try Self.group(reference.text).configuration().kafka.group == reference.value)
    }

    static let mistakes: [Mistake] = [
        Mistake("a line end", group("${LINES}"), says: "3:10 the environment variable LINES has a control character"),
        Mistake("a bell", group("${BELL}"), says: "3:10 the environment variable BELL has a control character"),
        Mistake(
            "undefined", group("${NONE}"),
            says: "3:10 the environment variable NONE is not defined; write ${NONE:-default} for a default"),
        Mistake("undefined after a defined one", group("${NAME}${NONE}"), says: "3:10 the environment variable NONE"),
        Mistake(
            "no end", group("'${NAME'"),
            says: "3:10 a reference to the environment is written ${NAME} or ${NAME:-default}"),
        Mistake("no name", group("${}"), says: "3:10 a reference"),
        Mistake("no name but a default", group("${:-x}"), says: "3:10 a reference"),
        Mistake("a space", group("${ NAME }"), says: "3:10 a reference"),
        Mistake("a default as other shells write it", group("${NAME-x}"), says: "3:10 a reference"),
        Mistake("a name with an accent", group("${N\u{C4}ME}"), says: "3:10 a reference"),
    ]

    @Test(arguments: mistakes) func `a reference that cannot be resolved is refused`(_ mistake: Mistake) {
        mistake.check()
    }

    @Test func `references work in lists, settings, files' names and numbers`() throws {
        let text = """
            kafka:
              bootstrap_servers: "${HOST:-127.0.0.1}:${PORT}"
              properties: { client.rack: "${RACK}", sasl.password_file: "${SECRETS:-secrets}/kafka" }
            keys: { k: { path: "${KEYS}/k" } }
            apps:
              web:
                adapter: ${ADAPTER}
                key: k
                lifetime: ${LIFE}
                settings: { mode: "${MODE}", ids: ["${ID}", crm] }
              ios: { adapter: braze, key: k, settings: { audience: "${AUDIENCE}", sdk_api_key: "${API_KEY}" } }
            worker: { batch: { events: "${EVENTS}" } }
            """
        let environment = [
            "PORT": "9092", "RACK": "r: 1", "KEYS": "/keys", "ADAPTER": "bloomreach", "LIFE": "5m", "MODE": "stream",
            "ID": "registered",
            "AUDIENCE": "true", "API_KEY": "0123", "EVENTS": "50",
        ]
        let configuration = try ConfigurationFile(text, environment: environment, files: ["conf/secrets/kafka": "s"])
            .configuration()
        #expect(configuration.kafka.bootstrapServers == "127.0.0.1:9092")
        #expect(configuration.kafka.properties.map(\.value) == ["r: 1", "s"])
        #expect(configuration.keys.first?.path == "/keys/k")
        #expect(configuration.apps.first?.lifetime == 300)
        #expect(configuration.worker.readAheadEvents == 50)
        let claims = configuration.apps[1].adapter.recipe(for: .init(user: "u")).claims
        #expect(claims.last?.value == .constant("0123"))
        #expect(claims.map(\.name) == ["sub", "exp", "aud", "iss"])
    }

    @Test func `a reference in a key's name is not replaced`() {
        let file = ConfigurationFile(SampleText.minimal + "${NAME}: 1\n", environment: Self.environment)
        #expect(
            file.errors() == [
                "conf/remint.yaml:10:1: error: unknown key ${NAME}; known here: kafka, delivery, topics, keys, apps, worker, log, admin, pickup, telemetry, tests"
            ])
    }

    @Test func `a value is never a reference itself`() throws {
        #expect(try Self.group("'${DOLLAR}'").configuration().kafka.group == "${NAME}")
    }

    /// Every place that can hold a secret, made wrong in every way there is.
    static let secrets: [SecretPlace] = [
        SecretPlace(
            "two properties",
            SampleText.minimal.replacing(
                "keys:", with: "  properties: { sasl.password: \"${SECRET}\", sasl.pasword: [\"${SECRET}\"] }\nkeys:")),
        SecretPlace(
            "a property of the worker's own",
            SampleText.minimal.replacing("keys:", with: "  properties: { group.id: \"${SECRET}\" }\nkeys:")),
        SecretPlace(
            "a file's name",
            SampleText.minimal.replacing("keys:", with: "  properties: { sasl.password_file: \"${SECRET}\" }\nkeys:")),
        SecretPlace(
            "a check of host names",
            SampleText.minimal.replacing(
                "keys:", with: "  properties: { ssl.endpoint.identification.algorithm: \"${SECRET}\" }\nkeys:")),
        SecretPlace(
            "a reference without an end",
            SampleText.minimal.replacing("keys:", with: "  properties: { sasl.password: \"a${SECRET\" }\nkeys:")),
        SecretPlace("a list in settings", SampleText.minimal + "    settings: { sdk_api_key: [\"${SECRET}\"] }\n"),
        SecretPlace("a switch in settings", SampleText.minimal + "    settings: { audience: \"${SECRET}\" }\n"),
        SecretPlace("settings as a whole", SampleText.minimal + "    settings: \"${SECRET}\"\n"),
        SecretPlace("a lifetime", SampleText.minimal + "    lifetime: \"${SECRET}\"\n"),
        SecretPlace("a delivery", SampleText.minimal + "delivery: \"${SECRET}\"\n"),
        SecretPlace("a number", SampleText.minimal + "worker: { batch: { events: \"${SECRET}\" } }\n"),
        SecretPlace("the log", SampleText.minimal + "log: { level: \"${SECRET}\", format: \"${SECRET}\" }\n"),
        SecretPlace("a broker", SampleText.minimal.replacing("127.0.0.1:9092", with: "\"${SECRET}:9\"")),
        SecretPlace(
            "a mode",
            SampleText.minimal.replacing(
                "braze", with: "bloomreach\n    settings: { mode: \"${SECRET}\", ids: \"${SECRET}\" }")),
    ]

    @Test(arguments: secrets) func `a value of the environment never shows in a diagnostic`(_ place: SecretPlace) {
        let errors = ConfigurationFile(place.text, environment: Self.environment).errors()
        #expect(!errors.isEmpty)
        for error in errors { #expect(!error.contains("hunter2")) }
    }

    @Test func `a secret's file never shows in a diagnostic`() {
        var file = SampleText.replacing("keys:", "  properties: { sasl.password_file: secret, a: [] }\nkeys:")
        file.files = ["conf/secret": "hunter2-secret"]
        for error in file.errors() { #expect(!error.contains("hunter2")) }
    }
}
