import Foundation

/// A key ring's folder, changed as an operator would: a listing that is there at once or not at all.
struct KeyRingFile {
    /// The folder with `keyring.json`.
    let folder: URL

    func versions() throws -> [[String: String]] {
        let data = try Data(contentsOf: folder.appending(path: "keyring.json"))
        let root = try JSONSerialization.jsonObject(with: data) as? [String: [[String: String]]]
        return root?["versions"] ?? []
    }

    func write(_ versions: [[String: String]]) throws {
        try write(
            JSONSerialization.data(withJSONObject: ["versions": versions]), as: "keyring.json")
    }

    /// Makes `id` the active version, with the key in a file of these bytes. The one before becomes passive.
    func activate(_ id: String, key: Data) throws {
        var versions = try versions()
        guard var new = versions.last else { throw CocoaError(.fileReadCorruptFile) }
        for index in versions.indices { versions[index]["state"] = "passive" }
        new["id"] = id
        new["state"] = "active"
        new["file"] = "\(id).key"
        new["retire_after"] = nil
        try write(key, as: "\(id).key")
        try write(versions + [new])
    }

    private func write(_ data: Data, as name: String) throws {
        let new = folder.appending(path: "\(name).new")
        try data.write(to: new)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: new.path)
        guard rename(new.path, folder.appending(path: name).path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
