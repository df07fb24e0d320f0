public import AdapterKit
public import Foundation

/// The promises of `Adapter`, checked. An adapter's author runs this on it, with any test framework: each broken
/// promise is returned as a line of text.
///
/// ```swift
/// @Test func `keeps the adapter's promises`() throws {
///     let suite = try AdapterConformance(.init(BrazeAdapter.self), folder: URL(filePath: #filePath) …)
///     #expect(try suite.violations().isEmpty)
/// }
/// ```
public struct AdapterConformance: Sendable {
    private let registration: AdapterRegistration
    private let fixtures: AdapterFixtures
    private let readme: String
    private let now = UnixTime(seconds: 1_800_000_000)

    /// A suite for the adapter in `folder`, which holds `Fixtures` and `README.md`.
    ///
    /// - Throws: an error of the fixtures' files.
    public init(_ registration: AdapterRegistration, folder: URL) throws {
        self.registration = registration
        fixtures = try AdapterFixtures(directory: folder.appending(path: "Fixtures"))
        readme = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
    }

    /// A suite for an adapter whose `fixtures` and page are at hand.
    public init(_ registration: AdapterRegistration, fixtures: AdapterFixtures, readme: String) {
        self.registration = registration
        self.fixtures = fixtures
        self.readme = readme
    }

    /// Returns every broken promise, a line each.
    ///
    /// - Throws: the error that keeps the suite from running: settings that do not decode, a key that cannot be made.
    public func violations() throws -> [String] { try findings().map(\.description) }

    /// Returns every broken promise, with the part of the fixtures that it is about.
    ///
    /// - Throws: as `violations`.
    public func findings() throws -> [ConformanceFinding] { try outcome().findings }

    /// Returns every broken promise, and the names of the corruptions that the example apps' tokens were tried with.
    ///
    /// - Throws: as `violations`.
    package func outcome() throws -> (findings: [ConformanceFinding], corruptions: Set<String>) {
        var findings: [ConformanceFinding] = []
        if fixtures.reports.isEmpty { findings.append(.init(.adapter, "there is no recorded report")) }
        if fixtures.apps.isEmpty { findings.append(.init(.adapter, "there is no example app")) }
        findings += documentation()
        var verdicts = CorruptionVerdicts()
        var decided: [(name: String, reading: Reading)] = []
        for app in fixtures.apps {
            let adapter = try makeAdapter(app)
            findings += try self.findings(app, adapter, &verdicts)
            decided += decisions(app, adapter)
        }
        findings += CodePromises(registration.codes).violations(decided).map { .init(.adapter, $0) }
        let known = Set(fixtures.apps.map(\.name))
        findings += fixtures.reports.filter { !known.contains($0.app) }.map {
            ConformanceFinding(.report($0.name), "\($0.name): no app called \($0.app)")
        }
        return (findings + verdicts.findings, verdicts.names)
    }

    /// Returns what the adapter makes of the app's recorded reports, by their names.
    private func decisions(
        _ app: AdapterFixtures.App, _ adapter: any Adapter
    ) -> [(name: String, reading: Reading)] {
        fixtures.reports.filter { $0.app == app.name }.compactMap { fixture in
            let root = try? JSONDocument(parsing: fixture.report(at: now)).root
            return root.map { (name: fixture.name, reading: read($0, adapter)) }
        }
    }

    private func findings(
        _ app: AdapterFixtures.App, _ adapter: any Adapter, _ verdicts: inout CorruptionVerdicts
    ) throws -> [ConformanceFinding] {
        let reports = fixtures.reports.filter { $0.app == app.name }
        func about(_ texts: [String]) -> [ConformanceFinding] { texts.map { .init(.app(app.name), $0) } }
        var findings = readings(adapter, reports) + about(garbage(adapter, reports) + handover(adapter))
        let users = users(adapter, app, reports)
        findings += users.findings
        let vouched = try app.vouchedUser(of: adapter)
        let refusal = adapter.refusalOfMissingMembers(in: vouched)
        if let refusal { findings += about(["\(app.name): no token can be tested: \(refusal.detail)"]) }
        let subjects = refusal == nil ? users.subjects : []
        let grants = vouched?.grants ?? Enrichment()
        // What the adapter asks to mint is accepted by its own verifier, holds nothing else, and no corruption passes.
        for subject in subjects { findings += try tokens(adapter, app, subject, grants, &verdicts) }
        findings += about(try lookups(adapter, users.subjects))
        let hostile = HostileIdentifiers(
            adapter, reports: reports.map { $0.report(at: now) }, users: subjects, at: now, grants: grants)
        return findings + about(try hostile?.violations() ?? [])
    }

    /// Returns the adapter of an example app.
    ///
    /// - Throws: the error of the settings.
    public func makeAdapter(_ app: AdapterFixtures.App) throws -> any Adapter {
        let decoder = JSONDecoder()
        decoder.userInfo = ConfiguredAdapter.userInfo(for: registration)
        return try decoder.decode(ConfiguredAdapter.self, from: Data(app.settings)).adapter
    }

    // MARK: The promises

    private func documentation() -> [ConformanceFinding] {
        registration.settings.filter { !readme.contains("`\($0.name)`") }
            .map { .init(.adapter, "README.md does not mention the setting `\($0.name)`") }
    }

    /// Checks the handover: it names an operator's steps at the vendor, and a key that the vendor makes is not called
    /// ours.
    private func handover(_ adapter: any Adapter) -> [String] {
        let handover = adapter.keyHandover
        var violations: [String] = []
        if handover.beforePromotion.isEmpty {
            violations.append("keyHandover does not describe how the vendor gets a key")
        }
        if handover.origin == .ours, adapter.algorithm.keyType == .secret {
            violations.append("keyHandover: a shared secret has no half that is ours alone")
        }
        return violations
    }

    /// Checks that each recorded report is read as expected, twice, and that no loggable text contains its token.
    private func readings(_ adapter: any Adapter, _ reports: [ReportFixture]) -> [ConformanceFinding] {
        reports.flatMap { fixture in
            reading(adapter, fixture).map { ConformanceFinding(.report(fixture.name), "\(fixture.name): \($0)") }
        }
    }

    private func reading(_ adapter: any Adapter, _ fixture: ReportFixture) -> [String] {
        let bytes = fixture.report(at: now)
        guard let root = try? JSONDocument(parsing: bytes).root else {
            return fixture.expectation == .rejected(.malformedEvent) ? [] : ["the report is not JSON"]
        }
        let reading = read(root, adapter)
        var violations: [String] = []
        let found = ReportFixture.Expectation(reading)
        if found != fixture.expectation { violations.append("expected \(fixture.expectation), read as \(found)") }
        violations += evidence(in: reading)
        if reading != read(root, adapter) { violations.append("read differently the second time") }
        violations += ClockWords(adapter, at: now).violations(in: root, reading)
        let printed = String(describing: reading)
        for secret in secrets(in: root) where printed.contains(secret) {
            violations.append("the reading shows a token of the report")
        }
        return violations
    }

    /// Checks that a reading's evidence and remedy agree: a revoked token is replaced, and where there was no token
    /// none failed.
    private func evidence(in reading: Reading) -> [String] {
        guard case .failure(let failure) = reading, failure.subject != nil else { return [] }
        var violations: [String] = []
        let remedies = TokenSigner.allCases.map(failure.remedy(signedBy:))
        if failure.evidence == .revoked, !remedies.allSatisfy(\.mints) {
            violations.append("\(failure.reason) is evidence that the token was revoked, but does not mint")
        }
        if failure.hadNoToken, failure.evidence != .none {
            violations.append(
                "\(failure.reason) means that there was no token, but is evidence of \(failure.evidence.rawValue), not none"
            )
        }
        return violations
    }

    /// Texts of the report, however deep, that look like a token.
    private func secrets(in value: JSONValue) -> [String] {
        let inside = value.elements.flatMap(secrets) + value.members.flatMap { secrets(in: $0.value) }
        guard let text = value.string else { return inside }
        let nested = Report.parse(text).map(secrets) ?? []
        return inside + nested + (text.split(separator: ".").count == 3 && text.utf8.count > 40 ? [text] : [])
    }

    /// Checks that damaged and random JSON is answered, and answered alike each time.
    private func garbage(_ adapter: any Adapter, _ reports: [ReportFixture]) -> [String] {
        var random = SplitMix64(seed: 0x5EED)
        var texts = reports.flatMap { fixture in
            (0..<40).map { _ in GarbageJSON.damaged(fixture.report(at: now), random: &random) }
        }
        texts += (0..<400).map { _ in GarbageJSON.value(depth: 4, random: &random) }
        return texts.compactMap { text in
            guard let root = try? JSONDocument(parsing: text).root else { return nil }
            let reading = read(root, adapter)
            if reading != read(root, adapter) { return "garbage is read differently the second time" }
            return evidence(in: reading).first.map { "garbage: \($0)" }
        }
    }

    private func read(_ root: JSONValue, _ adapter: any Adapter) -> Reading {
        adapter.reading(of: Report(root, observedAt: now))
    }

    /// Returns the subjects of the fixtures' reports and of a batch job that ask to mint, and the promises that they
    /// break.
    private func users(_ adapter: any Adapter, _ app: AdapterFixtures.App, _ reports: [ReportFixture])
        -> (subjects: [Subject], findings: [ConformanceFinding])
    {
        var findings: [ConformanceFinding] = []
        var subjects: [Subject] = []
        for fixture in reports {
            guard let root = try? JSONDocument(parsing: fixture.report(at: now)).root else { continue }
            if case .failure(let failure) = read(root, adapter), failure.remedy.mints {
                if let subject = failure.subject {
                    if !subjects.contains(subject) { subjects.append(subject) }
                } else {
                    findings.append(
                        .init(.report(fixture.name), "\(fixture.name): a remedy that mints has no subject"))
                }
            }
        }
        findings += reissue(adapter, app, &subjects).map { ConformanceFinding(.app(app.name), "\(app.name): \($0)") }
        return (subjects, findings)
    }

    /// Returns the broken promises of look-ups: a malformed request, or an answer that makes the adapter take one user
    /// for another.
    private func lookups(_ adapter: any Adapter, _ users: [Subject]) throws -> [String] {
        guard let lookups = adapter.lookups else { return [] }
        return try LookupPromises(lookups, users: users).violations()
            + (LookupConversation(adapter, users: users, at: now)?.violations() ?? [])
    }

    private func reissue(_ adapter: any Adapter, _ app: AdapterFixtures.App, _ subjects: inout [Subject]) -> [String] {
        let user = app.reissue ?? Array("\"u-1001\"".utf8)
        guard let request = try? JSONDocument(parsing: Reissue.request(for: user)).root else {
            return ["\"reissue\" of the example app is not JSON"]
        }
        switch Reissue.read(request, for: adapter) {
        case .failure(let failure):
            if let subject = failure.subject, !subjects.contains(subject) { subjects.append(subject) }
            return failure.remedy == .mint ? [] : ["a batch job's request does not mint"]
        case .rejected(let rejection) where rejection.code == .missingChallenge:
            guard app.reissue != nil else { return [] }
            return ["a batch job's request is rejected: \(rejection.detail); remove \"reissue\" from the app"]
        case .rejected(let rejection): return ["a batch job's request is rejected: \(rejection.detail)"]
        }
    }

    private func tokens(
        _ adapter: any Adapter, _ app: AdapterFixtures.App, _ subject: Subject, _ grants: Enrichment,
        _ verdicts: inout CorruptionVerdicts
    ) throws -> [ConformanceFinding] {
        let recipe = adapter.recipe(for: subject)
        let keyID = recipe.needsKeyID ? "key-A" : nil
        let key = try SampleKeys.key(recipe.algorithm, keyID: keyID)
        let maker = TokenMaker(recipe: recipe, key: key, grants: grants)
        let keys = [maker.key.verificationKey]
        func verdict(_ token: [UInt8], _ expected: Subject = subject) -> VendorVerdict {
            adapter.verify(token, against: keys, expecting: expected, at: now)
        }
        var violations: [String] = []
        if !adapter.requiredVouched.isEmpty,
            (try? TokenMaker(recipe: recipe, key: key).token(for: subject, from: now.seconds)) != nil
        {
            violations.append("a token is made without the members that the edge must vouch for")
        }
        if recipe != adapter.recipe(for: subject) { violations.append("the recipe differs the second time") }
        if recipe.algorithm != adapter.algorithm || recipe.lifetime != adapter.lifetime {
            violations.append("the recipe's algorithm or lifetime is not the adapter's")
        }
        let good = try maker.token(for: subject, from: now.seconds)
        if verdict(good) != .accepted { violations.append("its own token is refused: \(verdict(good))") }
        violations += try TemplatePromises(adapter: adapter, recipe: recipe, keyID: keyID, now: now).violations(
            of: good)
        if adapter.tokensNameUser, verdict(good, subject.appending("x")).isAccepted {
            violations.append("another user's token is accepted")
        }
        if !recipe.lifetime.allowed.contains(recipe.lifetime.standard) {
            violations.append("the standard lifetime is not allowed")
        }
        for corruption in try TokenCorruption.all(of: maker, subject, at: now) {
            verdicts.record(
                Self.text(verdict(corruption.token)), on: corruption.name, of: subject, app: app.name,
                expected: fixtures.verdict(on: corruption.name, app: app.name))
        }
        return violations.map { ConformanceFinding(.app(app.name), $0) }
    }

    private static func text(_ verdict: VendorVerdict) -> String {
        switch verdict {
        case .accepted: "accepted"
        case .refused(let code, let name): "\(code) \(name)"
        }
    }
}
