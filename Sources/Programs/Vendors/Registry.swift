package import AdapterKit
import BloomreachAdapter
import BrazeAdapter
package import DeclaredAdapters
import DotdigitalAdapter
import InfobipAdapter
import OneSignalAdapter
import ShippedVendors

extension AdapterRegistry {
    /// The adapters that are compiled. A new one is a line here and a name in the manifest.
    package static let compiled = AdapterRegistry([
        .init(BrazeAdapter.self),
        .init(OneSignalAdapter.self),
        .init(BloomreachAdapter.self),
        .init(DotdigitalAdapter.self),
        .init(InfobipAdapter.self),
    ])

    /// The adapters this program offers: those that are compiled, and the shipped files.
    package static let remint: AdapterRegistry = {
        let taken = Set(compiled.registrations.map(\.name))
        let declared = DeclaredVendor.shipped.map(\.registration).filter { !taken.contains($0.name) }
        return AdapterRegistry(compiled.registrations + declared)
    }()
}

extension DeclaredVendor {
    /// The vendors whose files come with the program. A file that does not load is none; a test loads them all.
    package static let shipped: [DeclaredVendor] = {
        var seen: Set<String> = []
        return ShippedFiles.names.compactMap { name in
            ShippedFiles.text(of: name).flatMap { load($0, file: "\(name).yaml").vendor }
        }.filter { seen.insert($0.description.name).inserted }
    }()
}
