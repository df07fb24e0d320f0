import ArgumentParser
import Foundation

/// Mints with jwt-kit for a while and prints, as one line of JSON, how fast that was.
@main
struct Peer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jwt-kit-peer", abstract: "Mints tokens with jwt-kit and prints how many a second.")

    @Option(help: "RS256 (Braze's token), ES256 (OneSignal's) or HS256 (Infobip's).")
    var algorithm: Mint.Algorithm

    @Option(help: "For how long.")
    var seconds: Double = 1

    @Option(help: "How many tasks mint at once, each with its own keys.")
    var threads: Int = 1

    @Option(help: "The private key: PKCS#8 PEM, or the secret's text for HS256.")
    var key: String

    mutating func validate() throws {
        guard seconds > 0, seconds <= 600 else { throw ValidationError("--seconds is 0 to 600") }
        guard (1...256).contains(threads) else { throw ValidationError("--threads is 1 to 256") }
    }

    func run() async throws {
        let key = try String(contentsOfFile: key, encoding: .utf8)
        var mints: [Mint] = []
        for lane in 0..<threads { mints.append(try await Mint(algorithm, key: key, lane: lane)) }
        // What is set up at the first use is not what is measured.
        for mint in mints { _ = try await mint.run(for: .milliseconds(50)) }
        let runs = try await runs(of: mints)
        let rates = runs.map { Double($0.tokens) / $0.seconds }
        let result = Result(
            algorithm: algorithm.rawValue, threads: threads, tokens: runs.reduce(0) { $0 + $1.tokens },
            seconds: runs.map(\.seconds).max() ?? 0, tokensPerSecond: rates.reduce(0, +),
            sample: runs.first?.sample ?? "")
        print(try result.json)
    }

    /// Off the main actor: a hop from the main thread to the pool and back for each token would be measured otherwise.
    private func runs(of mints: [Mint]) async throws -> [Mint.Run] {
        let length = Duration.seconds(seconds)
        return try await withThrowingTaskGroup(of: Mint.Run.self) { group in
            for mint in mints {
                group.addTask { @concurrent in try await mint.run(for: length) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// The printed result.
private struct Result: Encodable {
    let algorithm: String
    let threads: Int
    let tokens: Int
    let seconds: Double
    let tokensPerSecond: Double
    let sample: String

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
