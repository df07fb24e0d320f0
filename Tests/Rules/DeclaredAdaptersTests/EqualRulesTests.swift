import AdapterKit
import AsyncTestSupport
import BrazeAdapter
import DeclaredAdapters
import DeclaredTesting
import Foundation
import InfobipAdapter
import OneSignalAdapter
import Testing

@testable import AdapterTestKit

/// Three compiled vendors' rules, written as files: tokens and decisions do not show which is which.
@Suite struct EqualRulesTests {
    /// A compiled vendor and the same as a file.
    struct Pair: Sendable, CustomTestStringConvertible {
        let folder: String
        let registration: AdapterRegistry.Registration
        /// A key whose signatures are the same each time, where the vendor's algorithm has such.
        let key: @Sendable (Algorithm) throws -> SigningKey

        var testDescription: String { folder }
        var declared: DeclaredVendor {
            get throws { try Places.vendor(Places.text(ofRules: registration.name)) }
        }
        var fixtures: AdapterFixtures {
            get throws {
                try AdapterFixtures(directory: Places.root.appending(path: "adapters/\(folder)/Fixtures"))
            }
        }
        /// Both adapters of each example app.
        func adapters() throws -> [(app: String, compiled: any Adapter, declared: any Adapter)] {
            try fixtures.apps.map { app in
                let decoder = JSONDecoder()
                decoder.userInfo = ConfiguredAdapter.userInfo(for: registration)
                let compiled = try decoder.decode(ConfiguredAdapter.self, from: Data(app.settings)).adapter
                return (app.name, compiled, try declared.adapter(settings: app.settings))
            }
        }
    }

    static let pairs = [
        Pair(folder: "Braze", registration: .init(BrazeAdapter.self)) { try SigningKey.generate($0, keyID: "k-1") },
        Pair(folder: "OneSignal", registration: .init(OneSignalAdapter.self)) {
            try SigningKey.generate($0, keyID: "k-1")
        },
        Pair(folder: "Infobip", registration: .init(InfobipAdapter.self)) { try SigningKey.generate($0, keyID: "k-1") },
    ]
    private static let now = UnixTime(seconds: 1_800_000_000)

    @Test(arguments: pairs) func `every recorded report is decided alike`(_ pair: Pair) throws {
        let fixtures = try pair.fixtures
        for (app, compiled, declared) in try pair.adapters() {
            for fixture in fixtures.reports where fixture.app == app {
                guard let root = try? JSONDocument(parsing: fixture.report(at: Self.now)).root else { continue }
                let report = Report(root, observedAt: Self.now)
                #expect(Decision(declared.read(report)) == Decision(compiled.read(report)), "\(fixture.name)")
            }
        }
    }

    @Test(arguments: pairs) func `damaged reports are decided alike`(_ pair: Pair) throws {
        let fixtures = try pair.fixtures
        var random = SplitMix64(seed: 0x28)
        var readable = 0
        let adapters = try pair.adapters()
        for number in 0..<Scale.rounds(10_000) {
            let fixture = fixtures.reports[number % fixtures.reports.count]
            let bytes =
                number % 5 == 0
                ? GarbageJSON.value(depth: 4, random: &random)
                : GarbageJSON.damaged(fixture.report(at: Self.now), random: &random)
            guard let (_, compiled, declared) = adapters.first(where: { $0.app == fixture.app }),
                let root = try? JSONDocument(parsing: bytes).root
            else { continue }
            readable += 1
            let report = Report(root, observedAt: Self.now)
            let (expected, found) = (Decision(compiled.read(report)), Decision(declared.read(report)))
            if found != expected {
                Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(found), not \(expected)")
                return
            }
        }
        #expect(readable > Scale.rounds(1000))
    }

    /// Reports whose members were exchanged, left out, doubled under other names or given other values: all of them JSON.
    @Test(arguments: pairs) func `altered reports are decided alike`(_ pair: Pair) throws {
        let fixtures = try pair.fixtures
        var random = SplitMix64(seed: 0x2828)
        let adapters = try pair.adapters()
        let roots = fixtures.reports.compactMap { fixture in
            (try? JSONDocument(parsing: fixture.report(at: Self.now)).root).map { (fixture.app, $0) }
        }
        for _ in 0..<Scale.rounds(10_000) {
            guard let (app, root) = roots.randomElement(using: &random) else { return }
            let bytes = AlteredJSON.alter(root, others: roots.map(\.1), random: &random)
            guard let (_, compiled, declared) = adapters.first(where: { $0.app == app }) else { continue }
            let report = Report(try JSONDocument(parsing: bytes).root, observedAt: Self.now)
            let (expected, found) = (Decision(compiled.read(report)), Decision(declared.read(report)))
            if found != expected {
                Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(found), not \(expected)")
                return
            }
        }
    }

    @Test(arguments: pairs) func `header and payload are the same to the byte`(_ pair: Pair) throws {
        for (app, compiled, declared) in try pair.adapters() {
            let key = try pair.key(compiled.algorithm)
            #expect(declared.algorithm == compiled.algorithm)
            #expect(declared.lifetime == compiled.lifetime)
            #expect(declared.secretEncoding == compiled.secretEncoding)
            #expect(declared.loopGuard == compiled.loopGuard)
            #expect(declared.reportsFailedToken == compiled.reportsFailedToken)
            for user in ["u-1001", "0012/\"e\u{301}", "\u{1F511}\u{0}\n", String(repeating: "x", count: 256)] {
                let subject = Subject(user: user)
                let tokens = try [compiled, declared].map { adapter in
                    var random = SplitMix64(seed: 7)
                    return try TokenMaker(recipe: adapter.recipe(for: subject), key: key).token(
                        for: subject, valid: Validity(from: 1_800_000_000, to: 1_800_003_600), random: &random)
                }
                let signed = tokens.map { $0[..<($0.lastIndex(of: UInt8(ascii: ".")) ?? 0)] }
                #expect(signed[0] == signed[1], "\(app)")
                // ECDSA is random; the others are the same to the last byte.
                if compiled.algorithm != .es256 { #expect(tokens[0] == tokens[1]) }
                let life = UnixTime(seconds: 1_800_000_001)
                #expect(
                    compiled.verify(tokens[1], against: [key.verificationKey], expecting: subject, at: life)
                        == .accepted)
                #expect(
                    declared.verify(tokens[0], against: [key.verificationKey], expecting: subject, at: life)
                        == .accepted)
            }
        }
    }

    @Test func `granted claims are the same in both adapters' tokens`() throws {
        let (_, compiled, declared) = try #require(try Self.pairs[1].adapters().first)
        let vouched = Array(#"{"user":"u-42","subscriptions":[{"type":"Email","token":"ann@example.com"}]}"#.utf8)
        let root = try JSONDocument(parsing: vouched).root
        let claims = try [compiled, declared].map { adapter in
            var random = SplitMix64(seed: 7)
            let form = try TokenForm(
                adapter.recipe(for: Subject(user: "u-42")), keyID: nil, valid: Validity(from: 1, to: 2))
            return try form.claims(
                for: Subject(user: "u-42"), adding: adapter.vouchedUser(root).grants, random: &random)
        }
        #expect(claims[0] == claims[1])
        #expect(String(decoding: claims[1], as: UTF8.self).contains("ann@example.com"))
    }

    /// The suite of the compiled adapters, with their own reports and verdicts.
    @Test(arguments: pairs) func `the file keeps the compiled adapter's promises`(_ pair: Pair) throws {
        let declared = try pair.declared
        let suite = AdapterConformance(
            declared.registration, fixtures: try pair.fixtures, readme: DocsPage(declared.description).text)
        #expect(try suite.violations() == [])
    }

    @Test(arguments: pairs) func `the file's own tests pass`(_ pair: Pair) throws {
        let declared = try pair.declared
        let adapter = try declared.adapter(settings: declared.tests?.apps.first?.settings ?? [])
        #expect(adapter.name == pair.registration.name)
        #expect(adapter.vendor == pair.registration.vendor)
    }
}

/// A reading as far as it decides anything: not the words of a refusal.
struct Decision: Equatable, CustomStringConvertible {
    let description: String

    init(_ reading: Reading) {
        switch reading {
        case .rejected(let rejection): description = "rejected \(rejection.code.rawValue)"
        case .failure(let failure):
            let subject = failure.subject.map { String(decoding: $0.key(app: "a"), as: UTF8.self) } ?? "nobody"
            let signed = failure.signerRemedies.map { "\($0.active) \($0.older)" } ?? "-"
            description =
                "\(failure.remedy) \(failure.evidence) \(failure.reason) \(subject) \(signed) \(failure.failedToken?.hash.prefix ?? 0) \(failure.hadNoToken) \(failure.isEnforced) \(failure.deadline?.description ?? "-")"
        }
    }
}

/// Reports that are altered and still JSON.
enum AlteredJSON {
    private static let texts = [
        "", "null", "22", "11", "20014", "u-1001", "u-1002", "JWT_TOKEN_EXPIRED", "jwt_token_expired",
        "com.mobile-messaging",
    ]
    private static let numbers: [Int64] = [0, 10, 11, 13, 16, 21, 22, 26, 27, 99, 401, 403, 20_013, -1, .max]

    static func alter(_ root: JSONValue, others: [JSONValue], random: inout some RandomNumberGenerator) -> [UInt8] {
        guard root.isObject else { return root.json }
        var members = root.members.map { (name: $0.name, json: $0.value.json) }
        let donor =
            others.randomElement(using: &random).map { $0.members.map { (name: $0.name, json: $0.value.json) } } ?? []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = members.isEmpty ? nil : Int.random(in: 0..<members.count, using: &random)
            switch (Int.random(in: 0..<6, using: &random), index) {
            case (0, let index?): members.remove(at: index)
            case (1, let index?): members[index].json = scalar(&random)
            case (2, let index?):
                let inside = Int.random(in: 0..<members.count, using: &random)
                members[index].json = members[inside].json
            case (3, let index?):
                if let other = donor.randomElement(using: &random) { members[index].name = other.name }
            default: if let other = donor.randomElement(using: &random) { members.append(other) }
            }
        }
        var seen: Set<String> = []
        var json = JSONWriter()
        json.beginObject()
        for member in members where seen.insert(member.name).inserted {
            json.name(member.name)
            json.raw(member.json)
        }
        json.endObject()
        return json.bytes
    }

    private static func scalar(_ random: inout some RandomNumberGenerator) -> [UInt8] {
        var json = JSONWriter()
        switch Int.random(in: 0..<5, using: &random) {
        case 0: json.null()
        case 1: json.bool(.random(using: &random))
        case 2: json.integer(numbers.randomElement(using: &random) ?? 0)
        default: json.string(texts.randomElement(using: &random) ?? "")
        }
        return json.bytes
    }
}
