import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import InfobipAdapter
import OneSignalAdapter

extension AdapterRegistry {
    /// The adapters this program offers. A new one is a line here and one in the manifest.
    static let remint = AdapterRegistry([
        .init(BrazeAdapter.self),
        .init(OneSignalAdapter.self),
        .init(BloomreachAdapter.self),
        .init(DotdigitalAdapter.self),
        .init(InfobipAdapter.self),
    ])
}
