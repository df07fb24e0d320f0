import AdapterKit
import ArgumentParser
import Bench
import CommandKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import JOSE

/// `remint-bench mint`.
struct BenchMint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint", abstract: "Measures tokens per second, compared with libcrypto alone.",
        discussion: """
            The command makes compact tokens from a user and a vendor's recipe, on one core and on all cores. For
            comparison, libcrypto signs the bytes of such a token repeatedly, on the same number of threads. This shows
            the limit of this machine.
            """)

    @Option(help: "RS256, ES256 or HS256. Repeat the option for several algorithms. Default: all three.")
    var algorithm: [String] = []
    @Option(
        help: ArgumentHelp(
            "Vendor file. The command makes tokens of the first app in the file's tests instead.", valueName: "file"))
    var adapter: String?
    @Option(help: "Length of each measurement, in seconds.") var seconds = 0.5
    @Option(
        help: ArgumentHelp(
            "File with the key: a PEM, or for HS256 the secret's bytes. Default: a new key.", valueName: "file"))
    var key: String?
    @Option(
        help: "Make exactly this number of tokens on one thread, once, and print nothing: for counting instructions.")
    var count: Int?
    @OptionGroup var options: BenchOptions

    func validate() throws {
        guard seconds > 0, seconds <= 3600 else { throw ValidationError("--seconds is more than 0") }
        guard key == nil || algorithm.count == 1 || adapter != nil else {
            throw ValidationError("--key needs one --algorithm")
        }
        if let count, !(1...1_000_000_000).contains(count) { throw ValidationError("--count is 1 to 1000000000") }
    }

    func run() async throws {
        if let adapter {
            let declared = try VendorFile(adapter).tested()
            let settings = declared.tests.apps.first?.settings ?? Array("{}".utf8)
            let app = BenchApp(minting: try declared.vendor.adapter(settings: settings))
            let mint = try MintLoop(app, key: key)
            if let count { try mint.work()(count) } else { try measure(mint) }
            return
        }
        for name in algorithm.isEmpty ? ["RS256", "ES256", "HS256"] : algorithm {
            let mint = try MintLoop(BenchApp.named(name), key: key)
            if let count { try mint.work()(count) } else { try measure(mint) }
        }
    }

    private struct Result {
        let threads: Int
        var tokens: [Double] = []
        var signatures: [Double] = []
    }

    private func measure(_ mint: MintLoop) throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        var results = Set([1, cores]).sorted().map { Result(threads: $0) }
        for round in 0..<options.rounds {
            for index in results.indices {
                let threads = results[index].threads
                // The first measurement may find the machine cooler, so the order alternates.
                for isToken in round.isMultiple(of: 2) ? [true, false] : [false, true] {
                    let rate = try Throughput.measure(threads: threads, seconds: seconds) {
                        isToken ? try mint.work() : try mint.limit()
                    }
                    if isToken { results[index].tokens.append(rate) } else { results[index].signatures.append(rate) }
                }
            }
        }
        options.json ? printJSON(mint, results) : printTable(mint, results)
    }

    private func printTable(_ mint: MintLoop, _ results: [Result]) {
        var table = TextTable(mint.app.algorithm.rawValue, "tokens/s", "libcrypto alone/s", "ratio")
        for result in results {
            table.add(
                result.threads == 1 ? "1 core" : "\(result.threads) cores", Spread(result.tokens).text(),
                Spread(result.signatures).text(), Spread.ratio(result.tokens, of: result.signatures).text(3))
        }
        for line in table.lines + [""] { Terminal.print(line) }
    }

    private func printJSON(_ mint: MintLoop, _ results: [Result]) {
        options.printJSON("mint", of: results) { json in
            json.member("algorithm", mint.app.algorithm.rawValue)
        } _: { json, result in
            json.member("threads", Int64(result.threads))
            json.member("tokens_per_second", Spread(result.tokens))
            json.member("raw_per_second", Spread(result.signatures))
            json.member("ratio", Spread.ratio(result.tokens, of: result.signatures))
        }
    }
}
