import AdapterKit
import BrazeAdapter
import Testing
import Vendors

/// The adapters that a program adds to the shipped ones.
@Suite struct OwnAdapterTests {
    private func registration(_ name: String, vendor: String = "Ours") -> AdapterRegistry.Registration {
        AdapterRegistry.Registration(name: name, vendor: vendor, settings: []) { decoder in
            try BrazeAdapter(settings: BrazeSettings(from: decoder))
        }
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
