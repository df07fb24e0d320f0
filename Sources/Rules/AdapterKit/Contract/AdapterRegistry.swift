/// The adapters a program offers: an explicit list of values, made where the program starts.
package struct AdapterRegistry: Sendable {
    /// An adapter of the list.
    package typealias Registration = AdapterRegistration

    /// The adapters in the order they were given.
    package let registrations: [Registration]

    /// A registry of `registrations`. Two of one name are a mistake in the program and trap.
    package init(_ registrations: [Registration]) {
        precondition(Set(registrations.map(\.name)).count == registrations.count, "two adapters share a name")
        self.registrations = registrations
    }

    /// Returns the adapter `name`.
    package subscript(name: String) -> Registration? { registrations.first { $0.name == name } }
}
