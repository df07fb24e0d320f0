import AdapterKit
import BrazeAdapter
import Testing
import Vendors
import WorkerConfiguration

/// The adapters that a program adds to the shipped ones.
@Suite struct OwnAdapterTests {
    private func registration(_ name: String, vendor: String = "Ours") -> AdapterRegistry.Registration {
        AdapterRegistry.Registration(name: name, vendor: vendor, settings: []) { decoder in
            try BrazeAdapter(settings: BrazeSettings(from: decoder))
        }
    }

    @Test func `the registry finds each shipped vendor by its name`() {
        let registry = AdapterRegistry.remint
        #expect(registry.names.count > 30)
        #expect(registry.registrations.map(\.name) == registry.names)
        for name in registry.names { #expect(registry[name]?.name == name) }
    }

    @Test func `a shipped vendor whose file cannot be used is named in the error`() {
        let registry = AdapterRegistry([], deferred: .init(["broken"]) { _ in nil })
        let text = """
            kafka: { bootstrap_servers: a:1 }
            keys: { r: { path: k } }
            apps: { x: { adapter: broken, key: r } }
            """
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        let (configuration, diagnostics) = ConfigurationReader(registry: registry, source: source).read("c.yaml")
        #expect(configuration == nil)
        let wanted = "the program's file of the vendor broken cannot be used; install Remint again"
        #expect(diagnostics.contains { "\($0)".contains(wanted) }, "\(diagnostics)")
    }

    @Test func `an adapter replaces a shipped one of its name`() {
        let registry = AdapterRegistry.first(
            of: [registration("braze")] + AdapterRegistry.compiled.registrations + [registration("ours")])
        #expect(registry["braze"]?.vendor == "Ours")
        #expect(registry["onesignal"]?.vendor == "OneSignal")
        #expect(registry.registrations.count == AdapterRegistry.compiled.registrations.count + 1)
    }

    @Test(arguments: [(["ours", "ours"], "two adapters have the name ours"), (["Ours"], "has the name \"Ours\"")])
    func `two adapters of one name and a name that no configuration can hold are mistakes`(
        _ names: [String], _ message: String
    ) {
        #expect(AdapterRegistry.mistake(in: names.map { registration($0) })?.contains(message) == true)
        #expect(AdapterRegistry.mistake(in: [registration("ours"), registration("others-2")]) == nil)
    }

    @Test func `a registration knows the module whose resources have its reports`() {
        #expect(AdapterRegistry.compiled["braze"]?.module == "BrazeAdapter")
        #expect(registration("ours").module == nil)
    }
}
