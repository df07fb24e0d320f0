import JOSE

/// The progress of a campaign's re-issue, as the checkpoint of its job states it.
package struct CampaignProgress: Sendable, Equatable {
    /// The users whose events were sent, or who could not be asked for.
    package let done: Int
    /// The users who are left; nil where their number is unknown.
    package let left: Int?

    /// Reads a checkpoint of the campaign `id`; nil for anything else.
    init?(_ text: [UInt8], of id: String) {
        guard let root = try? JSONDocument(parsing: text).root, root["campaign"]?.string == id,
            let rows = root["rows"]?.integer, rows >= 0
        else { return nil }
        done = Int(clamping: rows)
        if root["finished"]?.bool == true {
            left = 0
        } else {
            left = root["total"]?.integer.map { max(0, Int(clamping: max(0, $0)) - Int(clamping: rows)) }
        }
    }
}
