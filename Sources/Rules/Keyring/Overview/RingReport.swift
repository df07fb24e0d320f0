/// One key ring as it lies on the disk.
package struct RingReport: Sendable {
    /// Its name.
    package var name: String
    /// Whether a signer holds it, so that its versions cannot be seen here.
    package var isBehindSigner: Bool
    /// Its versions, in the order of the file.
    package var versions: [ListedVersion] = []
    /// The campaign that replaces one of them; nil where none was begun.
    package var campaign: Rotation?
    /// The progress of the campaign's re-issue; nil where it has not begun.
    package var progress: CampaignProgress?
    /// The reason why the folder cannot be read; nil if it can.
    package var problem: String?

    /// A ring of which nothing was read yet.
    package init(name: String, isBehindSigner: Bool = false) {
        self.name = name
        self.isBehindSigner = isBehindSigner
    }
}
