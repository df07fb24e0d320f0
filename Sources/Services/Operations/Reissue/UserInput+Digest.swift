import Foundation
import JOSE

extension UserInput {
    private static let pieceBytes = 1 << 20

    /// Returns a digest of the content of the file at `path`, in hexadecimal digits: each piece is hashed behind the digest of those
    /// before it, so that a file of any size takes the memory of one piece.
    ///
    /// - Throws: `InputUnreadable`, or the file system's error.
    package static func digest(of path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw InputUnreadable(path: path, reason: "it is not there or may not be read")
        }
        var digest: [UInt8] = []
        while let piece = try file.read(upToCount: pieceBytes), !piece.isEmpty { digest = SHA256.hash(digest + piece) }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
