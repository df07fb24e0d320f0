import Foundation
import ProgramTestSupport
import Testing

/// A signer's configuration beside a shop's worker, whose keys it takes over.
struct SignerPlace {
    private static let rings = ["infobip-mobile", "onesignal-shop", "braze-ios"]
    let socket: String
    let arguments: [String]

    init(_ shop: borrowing Shop) throws {
        let folder = shop.folder
        socket = folder.appending(path: "s").path
        let file = folder.appending(path: "signer.yaml")
        arguments = ["signer", "--config", file.path, "--socket", socket]
        var text = try String(contentsOf: URL(filePath: shop.configuration), encoding: .utf8)
        try Data(text.utf8).write(to: file)
        for ring in Self.rings {
            try #require(text.contains("{ path: keys/\(ring) }"))
            text = text.replacing("{ path: keys/\(ring) }", with: "{ signer: s }")
        }
        try Data(text.utf8).write(to: URL(filePath: shop.configuration))
    }

    func start() async throws -> Program {
        let signer = try Program(Repository.remint, arguments)
        try #require(await signer.logged("signer.listening"), "\(signer.errorText)")
        return signer
    }
}
