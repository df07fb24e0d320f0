import AdapterKit
import AsyncTestSupport
import Foundation
import Keyring
import Pipeline
import Synchronization
import Testing
import WorkerTestSupport

@testable import Signing

/// Rings that come and go while a signer signs.
@Suite(.timeLimit(.minutes(5))) struct RemovedRingTests {
    private func ring(_ name: String, in folder: String) throws -> KeyRing {
        let path = "\(folder)/\(name)"
        try KeyRings.make(path)
        return try KeyRingDirectory(path: path).load(name: name)
    }

    @Test func `a ring that was removed leaves nothing behind`() async throws {
        let folder = try TemporaryFolder()
        let (first, second) = (try ring("first", in: folder.path), try ring("second", in: folder.path))
        let signer = LocalSigner([first], lanes: 2)
        let before = await signer.holdings
        let key = try #require(signer.activeKey(of: "first"))
        for _ in 0..<100 {
            await signer.replace(second)
            await signer.remove("second")
        }
        #expect(await signer.holdings == before)
        #expect(signer.activeKey(of: "second") == nil && signer.verificationKeys(of: "second").isEmpty)
        let revision = signer.keysRevision
        await signer.remove("first")
        #expect(signer.keysRevision != revision, "whoever remembers keys asks again")
        #expect(await signer.holdings == (0, 0))
        let input = SigningInput(encodedHeader: [], payload: [])
        let signatures = await signer.sign([SigningRequest(key: key, input: input)], urgency: .live)
        #expect(throws: Rejection.self) { try signatures[0].get() }
    }

    @Test func `a watcher follows rings that come, move and go`() async throws {
        let folder = try TemporaryFolder()
        let rings = try ["one", "two"].map { try ring($0, in: folder.path) }
        func watched(_ ring: String) -> KeyRingWatcher.Watched {
            .init([WatchedRing(name: "push", path: "\(folder.path)/\(ring)", uses: [.hs256])])
        }
        let now = Mutex(watched("one"))
        let signer = LocalSigner(rings, lanes: 1), problems = RecordedProblems(), log = RecordingLog()
        let watcher = KeyRingWatcher(
            { now.withLock { $0 } }, signer: signer, problems: problems.report, logger: log.logger())
        let watch = Task { await watcher.run() }
        defer { watch.cancel() }
        func version() -> String? { signer.activeKey(of: "push")?.version }
        func change(_ ring: String, to version: String) async throws {
            try await eventually("the version \(version) of \(ring)") {
                if signer.activeKey(of: "push")?.version != version {
                    try KeyRings.make("\(folder.path)/\(ring)", version: version)
                }
                return signer.activeKey(of: "push")?.version == version
            }
        }
        try await change("one", to: "k2")
        // Moved: the other folder is looked at.
        let moved = watched("two")
        now.withLock { $0 = moved }
        try await change("two", to: "k3")
        // Broken, and gone: so is the problem.
        try Data("{".utf8).write(to: URL(filePath: KeyRingDirectory(path: "\(folder.path)/two").listing))
        try await eventually("a problem") { problems.text != nil }
        let others = watched("one")
        now.withLock { $0 = others }
        try await eventually("the problem's end") { problems.text == nil }
    }
}
