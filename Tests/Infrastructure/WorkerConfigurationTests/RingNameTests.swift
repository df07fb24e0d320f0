import Testing
import WorkerConfiguration

@Suite("Names of key rings") struct RingNameTests {
    private static func file(_ name: String) -> ConfigurationFile {
        ConfigurationFile(
            SampleText.minimal.replacing("  shop:", with: "  \(name):").replacing("key: shop", with: "key: \(name)"))
    }

    @Test(arguments: ["shop", "shop-2", "A.b_c", "_"]) func `a plain name is accepted`(_ name: String) {
        let (configuration, diagnostics) = Self.file(name).read()
        #expect(configuration?.keys.first?.name == name && diagnostics.isEmpty)
    }

    /// Records and the ledger repeat a ring's name, so that one in use cannot simply be renamed.
    @Test(arguments: ["'a b'", "'*'", "é", "a:b", "'%2e'", "'-x'", "'.'", "'..'", "'<b>'"])
    func `an unsafe name is warned about, and goes on`(_ name: String) {
        let (configuration, diagnostics) = Self.file(name).read()
        #expect(configuration != nil)
        #expect(diagnostics.map(\.severity) == [.warning])
        #expect(diagnostics.first?.place.line == 4)
        #expect(diagnostics.first?.message.contains("is an unsafe name for a key ring: it ") == true)
    }

    @Test(arguments: [
        ("''", "\"\""), ("\"a\\nb\"", "\"a\\nb\""), (String(repeating: "a", count: 129), "…\""),
        ("\"\\e[2J\"", "\\u{1b}"),
    ])
    func `a name that cannot be printed is an error at its place`(_ name: String, _ quoted: String) {
        let errors = Self.file(name).errors()
        #expect(errors.contains { $0.contains(":4:3: error: ") && $0.contains("\(quoted)") }, "\(errors)")
        #expect(!errors.contains { $0.contains { $0.isNewline || $0 == "\u{1B}" } })
    }
}
