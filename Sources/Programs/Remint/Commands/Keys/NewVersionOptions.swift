import AdapterKit
import ArgumentParser
import JOSE
import WorkerConfiguration

/// The options of a new version, such as its id and its longest life.
struct NewVersionOptions: ParsableArguments {
    @Option(help: "The version's id. Default: the month, such as 2026-11, or the kid of a JWK.") var id: String?
    @Option(help: "The key's id at the vendor, which is the kid of the tokens. Default: the version's id.")
    var kid: String?
    @Option(help: ArgumentHelp("The algorithm. Default: the vendor's.", valueName: "RS256")) var algorithm: Algorithm?
    @Option(
        help: ArgumentHelp(
            "Encoding of the file with a shared secret: utf8, hex, base64 or base64url.", valueName: "hex"))
    var encoding: SecretEncoding?
    @Option(
        help: ArgumentHelp(
            "Latest expiry of the version's tokens: a duration from now, or a date-time.", valueName: "365d"))
    var retireAfter: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func end(from now: UnixTime) throws -> UnixTime? {
        guard let text = retireAfter else { return nil }
        if let duration = DurationText.parse(text) { return now.advanced(bySeconds: duration.components.seconds) }
        guard let time = RFC3339.parse(text), time > now else {
            throw ValidationError(
                "--retire-after is a duration such as 365d, or a date-time to come such as 2027-01-01T00:00:00Z")
        }
        return time
    }
}
