import Testing

@testable import WorkerConfiguration

@Suite("The place of the configuration")
struct ConfigurationPlaceTests {
    private func place(_ named: String?, variable: String?, isInstalled: Bool) throws -> String {
        try ConfigurationPlace(
            named: named, environment: { $0 == "REMINT_CONFIG" ? variable : nil },
            exists: { isInstalled && $0 == "/etc/remint/remint.yaml" }
        ).path
    }

    @Test func `the option comes first, then the variable, then the installed file`() throws {
        #expect(try place("a.yaml", variable: "b.yaml", isInstalled: true) == "a.yaml")
        #expect(try place(nil, variable: "b.yaml", isInstalled: true) == "b.yaml")
        #expect(try place(nil, variable: nil, isInstalled: true) == "/etc/remint/remint.yaml")
        #expect(try place(nil, variable: "", isInstalled: true) == "/etc/remint/remint.yaml")
    }

    @Test func `a named file need not exist`() throws {
        #expect(try place(nil, variable: "b.yaml", isInstalled: false) == "b.yaml")
    }

    @Test func `an error names every place without a configuration`() {
        let error = #expect(throws: ConfigurationPlace.Missing.self) {
            try place(nil, variable: nil, isInstalled: false)
        }
        for word in ["--config", "REMINT_CONFIG", "/etc/remint/remint.yaml", "remint init"] {
            #expect(error?.description.contains(word) == true)
        }
    }
}
