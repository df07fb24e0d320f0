import Foundation
import Testing
import WorkerConfiguration

@Suite("Folders of key rings") struct RingFolderTests {
    private static let refusal =
        "has the folder of keys.shop: a ring has one name, which its tokens' records repeat; remove keys.push and write key: shop in its apps"

    @Test(arguments: ["keys/shop", "./keys/shop", "keys//shop/", "keys/old/../shop"])
    func `two rings with one folder that is not there yet are refused`(path: String) {
        let errors = SampleText.replacing("/var/keys/push", path).errors()
        #expect(errors.count { $0.contains("keys.push \(Self.refusal)") } == 1, "\(errors)")
    }

    @Test func `two rings with one folder behind a link are refused, and two folders are not`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "RingFolderTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["a", "b"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        let link = folder.appending(path: "link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "a")
        func errors(_ second: String) -> [String] {
            ConfigurationFile(
                SampleText.minimal.replacingOccurrences(of: "keys/shop", with: folder.appending(path: "a").path)
                    .replacingOccurrences(of: "/var/keys/push", with: second)
            ).errors()
        }
        #expect(errors(link).contains { $0.contains("keys.push \(Self.refusal)") })
        #expect(errors(link + "/../a").contains { $0.contains(Self.refusal) })
        #expect(errors(folder.appending(path: "b").path) == [])
    }
}
