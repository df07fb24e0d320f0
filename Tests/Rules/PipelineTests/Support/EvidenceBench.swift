import AdapterKit
import DeclaredAdapters
import DeclaredTesting
import Foundation
import Pipeline
import Testing

/// One app of a real vendor, its users' devices, and a clock that is moved by hand.
struct EvidenceBench {
    /// A user's latest token, as its device holds it.
    struct Held: Sendable {
        let token: String
        let expiresAt: Int64
    }

    let clock = ManualClock(TestBench.now)
    var processor: BatchProcessor
    private(set) var held: [String: Held] = [:]
    private(set) var ends: [Settlement] = []
    private let life: Int64
    private var batch = 0

    /// - Parameter provesTokens: whether the worker distinguishes its own tokens from others by their signature.
    init(
        _ adapter: any Adapter, _ rules: AdmissionRules = AdmissionRules(subjects: 1000, usersToSuspend: 3),
        provesTokens: Bool = false
    ) throws {
        let key = try SigningKey.generate(adapter.algorithm, keyID: "k")
        let plain = InMemorySigning()
        plain.activate(key, in: "ring")
        let signing: any SigningPort = provesTokens ? RingSigning(["ring": [("active", key)]]) : plain
        // Short enough for a clock two hours ahead to call every token expired.
        life = min(adapter.lifetime.standard, 3600)
        let clock = clock
        processor = BatchProcessor(
            apps: [App(name: "shop", adapter: adapter, keyRing: "ring", lifetime: life)], signing: signing,
            maximumEventBytes: 1 << 20, admission: rules, random: SeededGenerator(seed: 1), now: { clock.now })
    }

    /// A declared vendor's adapter.
    static func declared(_ name: String, settings: String = "{}") throws -> any Adapter {
        try vendor(name).adapter(settings: Array(settings.utf8))
    }

    /// The vendor in its file.
    static func vendor(_ name: String) throws -> DeclaredVendor {
        let text = try String(contentsOf: folder.appending(path: "\(name).yaml"), encoding: .utf8)
        return try #require(DeclaredVendor.load(text, file: name).vendor)
    }

    /// The names of the files.
    static let vendors: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "adapters/declared")

    mutating func pass(_ seconds: Int64) { clock.now = clock.now.advanced(bySeconds: seconds) }

    /// A report of the user's device, whose clock is the given number of seconds ahead.
    @discardableResult
    mutating func tell(_ report: String, of user: String, ahead: Int64 = 0) async throws -> Settlement {
        batch += 1
        let observed = clock.now.advanced(bySeconds: ahead).description
        let record = InputRecord.sample(
            report,
            headers: [
                RecordHeader("remint-app", "shop"), RecordHeader("remint-device", "device of \(user)"),
                RecordHeader("remint-observed-at", observed),
            ], offset: Int64(batch), timestamp: clock.now)
        let settlement = try #require(await processor.process([record], batch: batch).first)
        processor.confirm(throughBatch: batch)
        if settlement.outcome == .minted {
            let token = String(decoding: try #require(settlement.output).token, as: UTF8.self)
            held[user] = Held(token: token, expiresAt: clock.now.seconds + life)
        }
        ends.append(settlement)
        return settlement
    }

    var mints: Int { ends.count { $0.outcome == .minted } }
    var deadLetters: [Settlement] { ends.filter { if case .deadLettered = $0.outcome { true } else { false } } }
}
