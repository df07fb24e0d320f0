import AdapterKit
import Foundation
import Synchronization
import Testing

@Suite struct AdapterRegistryTests {
    private let registry = AdapterRegistry([.init(SampleAdapter.self)])

    private func decode(_ settings: String, withRegistration: Bool = true) throws -> any Adapter {
        let decoder = JSONDecoder()
        if withRegistration { decoder.userInfo = ConfiguredAdapter.userInfo(for: try #require(registry["sample"])) }
        return try decoder.decode(ConfiguredAdapter.self, from: Data(settings.utf8)).adapter
    }

    @Test func `an adapter is found by its exact name`() throws {
        let registration = try #require(registry["sample"])
        #expect(registration.vendor == "Sample")
        #expect(registration.settings.map(\.name) == ["color", "size"])
        #expect(registration.settings.map(\.isRequired) == [true, false])
        #expect(registry["Sample"] == nil)
        #expect(registry[""] == nil)
        #expect(registry.registrations.map(\.name) == ["sample"])
    }

    @Test func `an adapter is made from its settings`() throws {
        let adapter = try #require(try decode(#"{"color":"red","size":3}"#) as? SampleAdapter)
        #expect(adapter.settings.color == "red")
        #expect(adapter.settings.size == 3)
        #expect(adapter.name == "sample")
        #expect(adapter.vendor == "Sample")
        #expect(try (decode(#"{"color":"red","size":null}"#) as? SampleAdapter)?.settings.size == nil)
    }

    @Test func `an adapter's complaint about its settings is passed on`() {
        let error = #expect(throws: SettingsError.self) { try decode(#"{"color":"plaid"}"#) }
        #expect(error == SettingsError("color", "is no color; name one"))
    }

    @Test(arguments: [#"{}"#, #"{"color":null}"#, #"{"color":7}"#, #"{"color":"red","size":"big"}"#, #"[]"#, #"null"#])
    func `settings of another shape are refused`(_ settings: String) {
        #expect(throws: DecodingError.self) { try decode(settings) }
    }

    @Test func `decoding settings without a registered adapter fails with a message`() {
        let error = #expect(throws: SettingsError.self) { try decode(#"{"color":"red"}"#, withRegistration: false) }
        #expect(error?.message.isEmpty == false)
    }

    @Test func `two adapters of one name trap`() async {
        await #expect(processExitsWith: .failure) {
            _ = AdapterRegistry([.init(SampleAdapter.self), .init(SampleAdapter.self)])
        }
        await #expect(processExitsWith: .failure) {
            _ = AdapterRegistry([], deferred: .init(["late", "late"]) { _ in nil })
        }
    }

    @Test func `a deferred adapter is made only for somebody who asks for it`() throws {
        let made = Mutex<[String]>([])
        let deferred = AdapterRegistry.Deferred(["late", "sample", "broken"]) { name in
            made.withLock { $0.append(name) }
            return name == "late" ? .init(name: name, vendor: "Late", settings: []) { _ in throw Unmade() } : nil
        }
        let registry = AdapterRegistry([.init(SampleAdapter.self)], deferred: deferred)
        #expect(registry.names == ["sample", "late", "broken"])
        #expect(registry["sample"]?.vendor == "Sample")
        #expect(registry["none"] == nil)
        #expect(made.withLock { $0 } == [])
        #expect(registry["late"]?.vendor == "Late")
        #expect(registry["broken"] == nil)
        #expect(made.withLock { $0 } == ["late", "broken"])
        #expect(registry.registrations.map(\.name) == ["sample", "late"])
    }

    private struct Unmade: Error {}

    @Test func `the error codes are these names in snake case`() {
        let codes = ErrorCode.allCases.map(\.rawValue)
        #expect(
            codes == [
                "malformed_event", "event_too_large", "unreadable_batch", "unknown_app", "malformed_report",
                "wrong_topic",
                "identity_missing", "identity_mismatch", "unproven", "missing_user", "missing_vouched",
                "missing_challenge", "challenge_expired", "not_fixable_by_token", "rejected_by_vendor", "app_suspended",
                "user_gone",
                "lookup_failed", "key_unavailable", "mint_failed", "retries_exhausted",
            ])
    }
}
