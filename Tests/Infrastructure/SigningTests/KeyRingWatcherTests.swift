import AdapterKit
import AsyncTestSupport
import Foundation
import JOSE
import Keyring
import Logging
import Pipeline
import Testing
import WorkerTestSupport

@testable import Signing

@Suite(.timeLimit(.minutes(5))) struct KeyRingWatcherTests {
    private struct Watched {
        let path: String
        let signer: LocalSigner
        let problems = RecordedProblems()
        let log: RecordingLog

        var version: String? { signer.activeKey(of: "push")?.version }
        var problem: String? { problems.text }
    }

    private func watching(_ body: (Watched) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/ring"
        try KeyRings.make(path, version: "k1")
        let ring = try KeyRingDirectory(path: path).load(name: "push")
        let watched = Watched(
            path: path, signer: LocalSigner([ring], lanes: 2), log: RecordingLog())
        let watcher = KeyRingWatcher(
            rings: [WatchedRing(name: "push", path: path, uses: [.hs256])], signer: watched.signer,
            problems: watched.problems.report,
            logger: watched.log.logger())
        let watch = Task { await watcher.run() }
        defer { watch.cancel() }
        try await body(watched)
    }

    /// Changes the ring until it is noticed: a change before the watcher's first look is none to it.
    private func make(_ version: String, in watched: Watched) async throws {
        try await eventually("the version \(version)") {
            if watched.version != version { try KeyRings.make(watched.path, version: version) }
            return watched.version == version
        }
    }

    @Test func `a changed listing is picked up`() async throws {
        try await watching { watched in
            try await make("k2", in: watched)
            let line = await watched.log.line(event: "key-ring.changed")
            #expect(line.metadata["remint.key.ring"] == "push")
            #expect(line.metadata["remint.key.version"] == "k2")
            #expect(watched.problem == nil)
        }
    }

    @Test func `a broken listing is reported, the old key goes on, and a fixed one clears it`() async throws {
        try await watching { watched in
            try await make("k2", in: watched)
            let listing = KeyRingDirectory(path: watched.path).listing
            let whole = try Data(contentsOf: URL(filePath: listing))
            for broken in ["{", #"{"versions": []}"#, ""] {
                try Data(broken.utf8).write(to: URL(filePath: listing))
                try await eventually("a problem") { watched.problem != nil }
                #expect(watched.problem?.contains("the key ring push cannot be used") == true)
                #expect(watched.version == "k2")
                try whole.write(to: URL(filePath: listing))
                try await eventually("the problem's end") { watched.problem == nil }
            }
            try FileManager.default.removeItem(atPath: listing)
            try await eventually("a problem") { watched.problem != nil }
            #expect(watched.version == "k2")
        }
    }

    /// The listing is the same as before; someone fixed the file it names.
    @Test func `a key's file that was fixed clears the report without a change of the listing`() async throws {
        try await watching { watched in
            try await make("k2", in: watched)
            let file = "\(watched.path)/k3.secret"
            try KeyRings.make(watched.path, version: "k3")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            try await eventually("a problem") {
                // It may have been looked at before its mode changed.
                if watched.version == "k3" {
                    try KeyRings.make(watched.path, version: "k2")
                    try FileManager.default.setAttributes(
                        [.posixPermissions: 0o644], ofItemAtPath: "\(watched.path)/k2.secret")
                }
                return watched.problem != nil
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: watched.path) where name.hasSuffix("secret")
            {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: "\(watched.path)/\(name)")
            }
            try await eventually("the problem's end") { watched.problem == nil }
        }
    }

    /// The successor's file was given a wrong mode behind the back of the commands.
    @Test func `a revoked version signs no more although its successor cannot be used`() async throws {
        try await watching { watched in
            try await make("k2", in: watched)
            let directory = KeyRingDirectory(path: watched.path)
            var editor = try KeyRingEditor(directory)
            try editor.add(
                SigningKey.generate(.hs256), id: "k3", encoding: .hex, at: UnixTime(seconds: 1_763_640_000))
            let file = "\(watched.path)/\(try editor.listing.version("k3").file)"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            try await eventually("a problem") { watched.problem != nil }
            #expect(watched.version == "k2", "nobody revoked it yet")
            let listing = try String(contentsOfFile: directory.listing, encoding: .utf8)
                .replacing(#""state":"active""#, with: #""state":"revoked""#)
                .replacing(#""state":"prepared""#, with: #""state":"active""#)
            try Data(listing.utf8).write(to: URL(filePath: directory.listing))
            try await eventually("the end of k2") { watched.version == nil }
            try await eventually("a word of it") {
                watched.problem?.contains("no version of it signs") == true
            }
            _ = await watched.log.line(event: "key-ring.disabled")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            try await eventually("the successor") { watched.version == "k3" && watched.problem == nil }
        }
    }

    @Test func `a key of a kind the vendor does not accept is refused`() async throws {
        try await watching { watched in
            try await make("k2", in: watched)
            try KeyRings.make(watched.path, version: "wrong", algorithm: .es256)
            try await eventually("a problem") { watched.problem != nil }
            #expect(watched.problem?.contains("ES256") == true)
            #expect(watched.version == "k2")
            let said = watched.log.lines.filter { $0.level == .error }
            #expect(said.count == 1, "it is logged once, not every second")
        }
    }
}
