package import AdapterKit
import BloomreachAdapter
import BrazeAdapter
package import DeclaredAdapters
import DotdigitalAdapter
import InfobipAdapter
import OneSignalAdapter
import ShippedVendors
import Synchronization

extension AdapterRegistry {
    /// The adapters that are compiled into every program of this package. A new one is a line here and a name in the
    /// manifest.
    package static let compiled = AdapterRegistry([
        .init(BrazeAdapter.self),
        .init(OneSignalAdapter.self),
        .init(BloomreachAdapter.self),
        .init(DotdigitalAdapter.self),
        .init(InfobipAdapter.self),
    ])

    /// The adapters of a program that is built with this package. They are set once, before the command line is read.
    private static let added = Mutex<[Registration]>([])

    /// Adds `registrations` to the adapters that this program offers. It has an effect before the first use of `remint`.
    package static func add(_ registrations: [Registration]) { added.withLock { $0 += registrations } }

    /// The adapters of a program that is built with this package.
    package static var own: [Registration] { added.withLock { $0 } }

    /// Returns the mistake in the adapters of a program, with its correction; nil where there is none.
    package static func mistake(in registrations: [Registration]) -> String? {
        var names: Set<String> = []
        for registration in registrations {
            let name = registration.name
            guard name.wholeMatch(of: /[a-z][a-z0-9-]*/) != nil else {
                return "the adapter of \(registration.vendor) has the name \"\(name)\"; "
                    + "use lowercase letters, digits and hyphens in `Adapter.name`"
            }
            guard names.insert(name).inserted else {
                return "two adapters have the name \(name); give one of them another `Adapter.name`"
            }
        }
        return nil
    }

    /// The adapters this program offers: its own, those that are compiled, and the shipped files.
    package static let remint = AdapterRegistry.first(
        of: own + compiled.registrations,
        deferred: Deferred(ShippedFiles.names) { name in DeclaredVendor.shipped(name)?.registration })

    /// Returns a registry of `registrations` without those whose name an earlier one has, and of those of `deferred`
    /// that have another name.
    package static func first(of registrations: [Registration], deferred: Deferred = .none) -> AdapterRegistry {
        var names: Set<String> = []
        return AdapterRegistry(registrations.filter { names.insert($0.name).inserted }, deferred: deferred)
    }
}

extension DeclaredVendor {
    /// The vendors that were read from the files of the program, by name; nil for a file that does not load. Each file is
    /// read once in a process.
    private static let read = Mutex<[String: DeclaredVendor?]>([:])

    /// Returns the vendor `name` from the file that comes with the program; nil if there is none, or if an adapter of the
    /// program has this name. A file that does not load is none; a test loads them all.
    package static func shipped(_ name: String) -> DeclaredVendor? {
        let others = AdapterRegistry.own + AdapterRegistry.compiled.registrations
        guard !others.contains(where: { $0.name == name }) else { return nil }
        if let vendor = read.withLock({ $0[name] }) { return vendor }
        let loaded = ShippedFiles.text(of: name).flatMap { load($0, file: "\(name).yaml").vendor }
        let vendor = loaded?.description.name == name ? loaded : nil
        read.withLock { $0[name] = .some(vendor) }
        return vendor
    }
}
