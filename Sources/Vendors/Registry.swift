package import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import InfobipAdapter
import OneSignalAdapter

extension AdapterRegistry {
    /// The adapters this program offers. A new one is a line here and a name in the manifest.
    package static let remint = AdapterRegistry([
        .init(BrazeAdapter.self),
        .init(OneSignalAdapter.self),
        .init(BloomreachAdapter.self),
        .init(DotdigitalAdapter.self),
        .init(InfobipAdapter.self),
    ])
}
