/// The adapters a program offers: an explicit list of values, made where the program starts.
package struct AdapterRegistry: Sendable {
    /// An adapter of the list.
    package typealias Registration = AdapterRegistration

    /// Adapters that are made only if somebody asks for them by name or for all of them: most commands need one or two,
    /// and each of the others would cost the reading of a file.
    package struct Deferred: Sendable {
        /// The names of the adapters.
        let names: [String]
        /// Returns the adapter of a name in `names`; nil if it cannot be made.
        let find: @Sendable (String) -> Registration?

        /// No adapters.
        package static let none = Deferred([]) { _ in nil }

        /// The adapters `names`, which `find` makes.
        package init(_ names: [String], find: @escaping @Sendable (String) -> Registration?) {
            self.names = names
            self.find = find
        }
    }

    /// The adapters that exist already, in the order they were given.
    private let present: [Registration]
    /// The adapters that are made on demand, after the present ones; none has the name of a present one.
    private let deferred: Deferred

    /// A registry of `registrations`, and of those of `deferred` that have another name. Two of one name in either are a
    /// mistake in the program and trap.
    package init(_ registrations: [Registration], deferred: Deferred = .none) {
        let names = Set(registrations.map(\.name))
        precondition(names.count == registrations.count, "two adapters share a name")
        precondition(Set(deferred.names).count == deferred.names.count, "two deferred adapters share a name")
        present = registrations
        self.deferred = Deferred(deferred.names.filter { !names.contains($0) }, find: deferred.find)
    }

    /// The names of all adapters, in the order of the list. No adapter is made for them.
    package var names: [String] { present.map(\.name) + deferred.names }

    /// All adapters, in the order of the list. Makes the deferred ones.
    package var registrations: [Registration] { present + deferred.names.compactMap(deferred.find) }

    /// Returns the adapter `name`.
    package subscript(name: String) -> Registration? {
        present.first { $0.name == name } ?? (deferred.names.contains(name) ? deferred.find(name) : nil)
    }
}
