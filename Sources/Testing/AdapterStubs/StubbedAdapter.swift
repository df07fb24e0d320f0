public import AdapterKit

/// An adapter with its vendor's REST API in small, for tests and demonstrations.
///
/// The conformance suite lets the adapter and the API talk to each other. An adapter's package can declare the conformance in
/// its tests, so that the adapter itself needs AdapterKit alone.
public protocol StubbedAdapter: LookupAdapter {
    /// Returns the vendor's REST API in small; nil where the settings do not use it.
    func stub(_ setting: StubSetting) -> (any VendorStub)?
}
