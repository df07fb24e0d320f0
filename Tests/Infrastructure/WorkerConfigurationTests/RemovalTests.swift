import AdapterKit
import Testing
import Vendors
import WorkerConfiguration

/// A key that is left out of a configuration that has every key gets its documented default, or is refused by name.
@Suite("A key that is left out")
struct RemovalTests {
    private static let members = FullConfiguration.all.flatMap(\.members)

    @Test func `the full configuration has every key there is`() throws {
        let written = FullConfiguration.all.reduce(into: Set<String>()) { $0.formUnion($1.written) }
        #expect(FullConfiguration.declared.subtracting(written).sorted() == [])
        #expect(written.subtracting(FullConfiguration.declared).sorted() == [])
    }

    @Test func `the full configuration has every setting of every compiled adapter`() throws {
        let full = try #require(FullConfiguration.all.first { $0.fixture.name == "full" })
        let apps = try #require(full.fixture.read().configuration).apps
        for registration in AdapterRegistry.compiled.registrations {
            let names = Set(apps.filter { $0.adapter.name == registration.name }.map(\.name))
            let written = full.members.filter { $0.path.count == 4 && names.contains($0.path[1]) }.map(\.path[3])
            for setting in registration.settings { #expect(written.contains(setting.name), "\(registration.name)") }
        }
    }

    @Test(arguments: members) func `the full configuration's values differ from the defaults`(
        _ member: FullConfiguration.Member
    ) {
        guard let standard = Self.standard(member) else { return }
        #expect(member.value != standard)
    }

    @Test(.timeLimit(.minutes(5)), arguments: members)
    func `a key that is left out has its default, or is asked for`(_ member: FullConfiguration.Member) throws {
        let full = try FullConfiguration.of(member)
        let without = full.replacing(member)
        let (configuration, diagnostics) = without.read()
        let errors = diagnostics.filter { $0.severity == .error }.map(\.message)
        #expect((configuration == nil) == !errors.isEmpty)
        if let standard = Self.standard(member) {
            try check(member, standard: standard, without: without, full)
        } else if Self.isRequired(member) {
            #expect(errors.contains { $0.contains(member.path.joined(separator: ".")) }, "\(errors)")
        } else if !errors.isEmpty {
            let name = try #require(member.path.last)
            #expect(errors.contains { $0.contains(name) }, "\(errors)")
        } else if case .key(let key) = member.declaration,
            ![.properties, .mapping(of: .scalar), .settings].contains(key.form)
        {
            let entry = without.effective().configuration?.entries.first { $0.path == member.path }
            if let entry {
                guard case .vendor = entry.origin else {
                    Issue.record("no default is documented, and \(entry) holds")
                    return
                }
            }
        }
    }

    /// Without the key the outcome is the one with its default written out; and that is what is shown.
    private func check(
        _ member: FullConfiguration.Member, standard: String, without: Fixture, _ full: FullConfiguration
    ) throws {
        let name = try #require(member.path.last)
        let (configuration, diagnostics) = without.read()
        let written = full.replacing(member, with: "\(name): \(standard)").read()
        #expect(configuration?.outline == written.configuration?.outline)
        #expect(diagnostics.map(\.message) == written.diagnostics.map(\.message))
        guard let configuration else { return }
        #expect(configuration.outline != full.fixture.read().configuration?.outline, "the key does nothing")
        let entry = without.effective().configuration?.entries.first { $0.path == member.path }
        #expect(entry?.value == standard)
        #expect(entry?.origin == .standard)
    }

    private static func standard(_ member: FullConfiguration.Member) -> String? {
        switch member.declaration {
        case .key(let key): key.standard
        case .setting(let setting): setting.standard
        case .section, .named, .property: nil
        }
    }

    private static func isRequired(_ member: FullConfiguration.Member) -> Bool {
        switch member.declaration {
        case .key(let key): key.isRequired
        case .setting(let setting): setting.isRequired
        case .section, .named, .property: false
        }
    }

    @Test(arguments: members) func `a section that has to be there is asked for`(_ member: FullConfiguration.Member)
        throws
    {
        guard case .section(let section) = member.declaration, section.absence == .refused else { return }
        let errors = try FullConfiguration.of(member).replacing(member).read().diagnostics.map(\.message)
        #expect(errors.contains { $0.hasPrefix(section.name) }, "\(errors)")
    }
}
