import AdapterKit
import ArgumentParser
import Foundation
@_spi(Decryption) import JOSE
import Keyring
import Preflight
import Worker
import WorkerConfiguration

/// `remint inspect`: a token's content, and the vendor's verdict on it.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Decodes a token and prints the vendor's verdict on it.",
        discussion: .help(
            """
            The command verifies the token with the app's key ring, for the user of --user or for the user in the token.
            You can also give a record of the token topic instead of a token. For a sealed token, give --recipient. The
            command never prints the signature. The exit code is 1 if the vendor would refuse the token.

            On a shared machine, give the token on standard input. The arguments of a command are in the list of
            processes, and stay in the shell's history.
            """,
            examples: """
                remint inspect --config remint.yaml --app web eyJhbGciOi…
                remint inspect --config remint.yaml --app web --user u-42 - < token.txt
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The app.") var app: String
    @Option(help: "The user who presents the token: an id, or a JSON object of ids. Default: the user in the token.")
    var user: String?
    @Option(help: "The nonce of the challenge that the token answers. Default: the nonce in the token.")
    var challenge: String?
    @Option(
        help: ArgumentHelp(
            "File with the private JWK that opens a sealed token. Only the file's owner may have access to the file.",
            valueName: "file"))
    var recipient: String?
    @Flag(help: "Print the result as JSON.") var json = false
    @Argument(
        help: ArgumentHelp(
            "The token, or - for standard input. The list of processes does not show standard input.",
            valueName: "token|-"))
    var token = "-"

    func run() throws {
        let preflight = try options.load()
        guard let configuration = preflight.configuration else { throw ExitCode.failure }
        let app = try options.app(app, in: configuration)
        let token = try opened(try compactToken())
        let inspection = TokenInspection(token)
        let subject = try expected(app, inspection)
        let keys = preflight.rings[app.key]?.verificationKeys ?? []
        let verdict =
            subject.map { app.adapter.verify(token, against: keys, expecting: $0, at: CommandContext.current.now()) }
            ?? .refused(code: "-", name: "the token names no subject of this vendor's")
        json ? printJSON(inspection, verdict, app) : printText(inspection, verdict, app)
        if !verdict.isAccepted { throw ExitCode.failure }
    }

    /// Returns the token itself, or the member `token` of a replacement token's record.
    private func compactToken() throws -> [UInt8] {
        let input = token == "-" ? Array(CommandContext.current.restOfInput()) : Array(token.utf8)
        let trimmed = input.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed()
        guard trimmed.first == UInt8(ascii: "{") else { return Array(trimmed) }
        guard let root = try? JSONDocument(parsing: Array(trimmed)).root, let token = root["token"]?.string else {
            throw ValidationError(
                "the input is JSON without a \"token\"; give a compact token or a replacement token's record")
        }
        guard root["app"].map({ app.hasSameBytes(as: $0.string) }) ?? true else {
            throw ValidationError("the record is of another app than --app \(app)")
        }
        return Array(token.utf8)
    }

    /// Returns `token` itself or, where it is sealed, the token that `recipient` decrypts from it.
    private func opened(_ token: [UInt8]) throws -> [UInt8] {
        guard token.count(where: { $0 == UInt8(ascii: ".") }) == 4 else { return token }
        guard let recipient else {
            throw ValidationError("the token is sealed; give --recipient, the file of the private JWK")
        }
        let sealed: CompactJWE
        do { sealed = try CompactJWE(parsing: token) } catch { throw ValidationError("the token: \(error.message)") }
        do {
            return try sealed.open(with: JWEDecryptionKey(privateJWK: try GuardedFile.read(recipient)))
        } catch let error as JOSEError {
            throw ValidationError("--recipient \(recipient): \(error.message)")
        }
    }

    private func expected(_ app: Configuration.App, _ inspection: TokenInspection) throws -> Subject? {
        // A token that names no user is the same for all of them.
        let anybody = app.adapter.tokensNameUser ? nil : Subject(user: "anybody")
        let named = inspection.claims.flatMap { app.adapter.subject(named: $0) ?? anybody }
        guard let user else {
            guard let challenge, let id = named?.user else { return named }
            return Subject(user: id, challenge: challenge)
        }
        if user.hasPrefix("{") {
            guard let ids = try? JSONDocument(parsing: Array(user.utf8)).root else {
                throw ValidationError("--user is not JSON")
            }
            return try? app.adapter.user(reissuing: ids)
        }
        return Subject(user: user, challenge: challenge ?? named?.challenge)
    }

    private func printText(_ inspection: TokenInspection, _ verdict: VendorVerdict, _ app: Configuration.App) {
        Terminal.print("header   \(inspection.header.map { text($0) } ?? "not a JSON object")")
        Terminal.print("claims   \(inspection.claims.map { text($0) } ?? "not a JSON object")")
        for (name, label) in [("iat", "issued"), ("exp", "expires")] {
            if let seconds = inspection.time(name) {
                Terminal.print("\(label)\(label.count == 6 ? " " : "")  \(UnixTime(seconds: seconds))")
            }
        }
        Terminal.print("\(app.adapter.vendor) says: \(verdict.text)")
    }

    private func printJSON(_ inspection: TokenInspection, _ verdict: VendorVerdict, _ app: Configuration.App) {
        var json = JSONWriter()
        json.beginObject()
        json.member("app", app.name)
        json.member("vendor", app.adapter.name)
        json.name("header")
        if let header = inspection.header { json.raw(header.json) } else { json.null() }
        json.name("claims")
        if let claims = inspection.claims { json.raw(claims.json) } else { json.null() }
        json.name("accepted")
        json.bool(verdict.isAccepted)
        json.member("verdict", verdict.text)
        json.endObject()
        Terminal.print(json.printable)
    }

    private func text(_ value: JSONValue) -> String { String(decoding: value.json, as: UTF8.self) }
}

extension VendorVerdict {
    /// The verdict for a person: `accepted`, or the vendor's code and name.
    var text: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let code, let name): "\(code) \(name)"
        }
    }
}
