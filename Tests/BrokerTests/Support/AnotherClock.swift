import Foundation
import Testing

/// The library that gives a program another time of day.
enum AnotherClock {
    private static let library = ["x86_64", "aarch64"].map {
        "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1"
    }
    .first { FileManager.default.fileExists(atPath: $0) }

    static var isThere: Bool { library != nil }
    static let howToInstall: Comment = "needs libfaketime (Debian package faketime)"

    /// What a program is started with whose clock is off by `offset`. How long things take is not touched.
    static func environment(_ offset: String) -> [String: String] {
        ["LD_PRELOAD": library ?? "", "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
    }
}
