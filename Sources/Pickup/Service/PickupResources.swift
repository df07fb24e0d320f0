import Foundation

/// The files that the gateway serves.
enum PickupResources {
    /// The text of a resource; nil where it is not there.
    static func text(_ name: String, _ ending: String) -> String? {
        guard let url = Bundle.module.url(forResource: name, withExtension: ending, subdirectory: "Resources") else {
            return nil
        }
        return try? String(contentsOf: url, encoding: .utf8)
    }
}
