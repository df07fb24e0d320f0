import AdapterKit
public import Foundation

/// The files under an adapter's `Fixtures` folder.
///
/// - `apps.json`: example apps by name, each with its `settings` and, for a batch job, `reissue` (the user it names) or,
///   where a token answers a challenge, `challenge`; `vouched` where every token needs members that the edge vouches for.
/// - `reports/*.json`: see `ReportFixture`.
/// - `verdicts.json`: the vendor's verdict on each corrupted token, see `TokenCorruption`.
public struct AdapterFixtures: Sendable {
    /// An example app.
    public struct App: Sendable {
        /// The app's name in `apps.json`.
        public let name: String
        /// `apps.*.settings`, as JSON.
        public let settings: [UInt8]
        /// `reissue.user` of a batch job, as JSON; nil where the vendor's tokens cannot be made ahead.
        public let reissue: [UInt8]?
        /// The members besides the user that the edge vouches for, as a JSON object; nil where the user is enough.
        private let vouched: [UInt8]?

        /// The app `name` with `settings`; `reissue` is the user that a batch job names, nil where it cannot name one.
        public init(name: String, settings: [UInt8], reissue: [UInt8]?, vouched: [UInt8]? = nil) {
            self.name = name
            self.settings = settings
            self.reissue = reissue
            self.vouched = vouched
        }

        /// Returns `vouched` of an event about `user`, as JSON; nil where the user is enough for a token.
        package func vouched(for user: String) -> [UInt8]? {
            guard let vouched, let members = try? JSONDocument(parsing: vouched).root.members else { return nil }
            var json = JSONWriter()
            json.beginObject()
            json.member("user", user)
            for (name, value) in members {
                json.name(name)
                json.raw(value.json)
            }
            json.endObject()
            return json.bytes
        }

        /// Returns a user that the edge vouches for with all members; nil where the user is enough for a token.
        func vouchedUser(of adapter: any Adapter) throws -> VouchedUser? {
            guard let members = vouched(for: "u-7f3a9c") else { return nil }
            return try adapter.vouchedUser(JSONDocument(parsing: members).root)
        }
    }

    /// The example apps.
    public let apps: [App]
    /// The recorded reports, sorted by name.
    public let reports: [ReportFixture]
    /// The vendor's verdicts by the corruption's name: code, space, name.
    public let verdicts: [String: String]

    /// Fixtures that stand elsewhere than in a folder.
    public init(apps: [App], reports: [ReportFixture], verdicts: [String: String]) {
        self.apps = apps
        self.reports = reports
        self.verdicts = verdicts
    }

    /// Reads the folder `directory`.
    ///
    /// - Throws: `Rejection` that names the file and its missing member, or the file system's error.
    public init(directory: URL) throws {
        let apps = try Self.json(directory.appending(path: "apps.json"))
        self.apps = apps.members.map { name, app in
            App(
                name: name, settings: app["settings"]?.json ?? Array("{}".utf8), reissue: app["reissue"]?.json,
                vouched: app["vouched"]?.json)
        }
        let folder = directory.appending(path: "reports")
        reports = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map {
                try ReportFixture(
                    name: $0.deletingPathExtension().lastPathComponent, parsing: Array(Data(contentsOf: $0)))
            }
        let verdicts = directory.appending(path: "verdicts.json")
        self.verdicts =
            FileManager.default.fileExists(atPath: verdicts.path)
            ? Dictionary(uniqueKeysWithValues: try Self.json(verdicts).members.map { ($0.name, $0.value.string ?? "") })
            : [:]
    }

    /// A vendor's verdict on a corruption.
    struct Verdict {
        /// The name of the entry in `verdicts`; nil for the entry of all other corruptions.
        let entry: String?
        let text: String
    }

    /// Returns the vendor's verdict on a corruption: the value for `app/corruption`, for the corruption, or for `*`.
    func verdict(on corruption: String, app: String) -> Verdict? {
        for entry in ["\(app)/\(corruption)", corruption] {
            if let text = verdicts[entry] { return Verdict(entry: entry, text: text) }
        }
        return verdicts["*"].map { Verdict(entry: nil, text: $0) }
    }

    private static func json(_ file: URL) throws -> JSONValue {
        do { return try JSONDocument(parsing: Array(Data(contentsOf: file))).root } catch let error as JSONError {
            throw Rejection(.malformedReport, "\(file.lastPathComponent): \(error)")
        }
    }
}
