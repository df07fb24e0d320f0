import JOSE
import Synchronization

/// Reads key rings' folders without their keys: versions, states and campaigns. It reads a folder again only where its
/// listing or its campaign changed.
package final class RingReader: Sendable {
    private struct Entry {
        let listing: FileRevision?
        let campaign: FileRevision?
        let progress: FileRevision?
        let report: RingReport
    }

    /// The name of a ring and its folder.
    package struct Place: Sendable {
        let name: String
        let path: String?

        /// The ring `name` in the folder `path`; nil for one that a signer holds.
        package init(name: String, path: String?) {
            self.name = name
            self.path = path
        }
    }

    private let keys: @Sendable () -> [Place]
    private let entries = Mutex<[String: Entry]>([:])

    /// The folders that `keys` names at a moment.
    package init(_ keys: @escaping @Sendable () -> [Place]) { self.keys = keys }

    /// Returns the current contents of the folders, in the order of the configuration.
    package func read() -> [RingReport] {
        let keys = keys()
        let names = Set(keys.map(\.name))
        return entries.withLock { entries in
            if entries.keys.contains(where: { !names.contains($0) }) {
                entries = entries.filter { names.contains($0.key) }
            }
            return keys.map { key in
                guard let path = key.path else { return RingReport(name: key.name, isBehindSigner: true) }
                let directory = KeyRingDirectory(path: path)
                let rotation = RotationFile(directory)
                // First the revisions: what changes while it is read is read again.
                let (listing, campaign) = (directory.revision, rotation.revision)
                if let entry = entries[key.name], entry.listing == listing, entry.campaign == campaign,
                    entry.report.problem == nil, entry.progress == entry.report.progressRevision(in: rotation)
                {
                    return entry.report
                }
                var report = Self.read(key.name, directory, rotation)
                let progress = report.progressRevision(in: rotation)
                report.progress = report.campaign.flatMap { rotation.progress(of: $0.id) }
                entries[key.name] = Entry(listing: listing, campaign: campaign, progress: progress, report: report)
                return report
            }
        }
    }

    private static func read(_ name: String, _ directory: KeyRingDirectory, _ rotation: RotationFile) -> RingReport {
        var report = RingReport(name: name)
        do throws(KeyRingError) {
            report.versions = try directory.readListing().versions
            report.campaign = try rotation.load()
        } catch { report.problem = "\(error)" }
        return report
    }
}

extension RingReport {
    /// Returns the revision of the campaign's progress in the folder of `rotation`; nil where there is none.
    fileprivate func progressRevision(in rotation: RotationFile) -> FileRevision? {
        campaign.flatMap { $0.phase.isOver ? nil : rotation.progressRevision(of: $0.id) }
    }
}
