import AdapterKit
import AsyncTestSupport
import Foundation
import JOSE
import NIOCore
import NIOEmbedded
import NIOPosix
import Pipeline
import ServiceLifecycle
import Testing
import WorkerTestSupport

@testable import Signing

@Suite(.timeLimit(.minutes(5))) struct SignerServerTests {
    /// Writes `bytes` to the signer, closes its own side, and waits until the connection is closed.
    private func send(_ bytes: [UInt8], to socket: String) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(unixDomainSocketPath: socket).get()
        // The signer may be gone before it took everything.
        try? await channel.writeAndFlush(ByteBuffer(bytes: bytes))
        try? await channel.close(mode: .output)
        try await channel.closeFuture.get()
    }

    @Test func `a connection that came as the signer stopped closes itself`() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            let connection = try SignerArrival.Connection(wrappingChannelSynchronously: channel)
            // Let go of here, as by an accept loop that has ended.
            _ = SignerArrival(connection, of: 1000)
        }
        // It may have closed itself by now.
        try? await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        try await channel.closeFuture.get()
    }

    @Test func `the signer survives random bytes and broken frames, and goes on signing`() async throws {
        let bench = try SignerBench([.hs256])
        let log = RecordingLog()
        try await bench.withServer(logger: log.logger()) {
            var random = SeededGenerator(seed: 11)
            let whole = try SignerFrameTests.frames.map { Array(try $0.encoded().readableBytesView) }
            for round in 0..<300 {
                var bytes: [UInt8]
                if round % 3 == 0 {
                    bytes = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                        UInt8.random(in: 0...255, using: &random)
                    }
                } else {
                    bytes = whole[Int.random(in: 0..<whole.count, using: &random)]
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    if round % 3 == 1 { bytes[place] ^= UInt8.random(in: 1...255, using: &random) }
                    if round % 3 == 2 { bytes.removeLast(bytes.count - place) }
                }
                try await send(bytes, to: bench.socket)
            }
            #expect(log.lines.contains { $0.event == "signer.protocol-violated" })
            try await ClientBench.with(bench.socket, ["HS256": [.hs256]]) { client in
                await client.signer.waitForKeys(within: patience)
                _ = try await client.signOne("HS256").get()
            }
        }
    }

    @Test func `the signer signs only JWTs, and only with the requested key`() async throws {
        let bench = try SignerBench([.hs256, .es256])
        try await bench.withServer {
            let connection = try await SignerConnection.open(bench.socket)
            defer { connection.close(.broken("the test is over")) }
            let token = SignerBench.input(.hs256, "one").bytes
            let inputs: [[UInt8]] = [
                [], Array("e30".utf8), Array(".".utf8), Array("e30.".utf8), Array("e30.e30.e30".utf8),
                Array("e30.e 0".utf8), [0xFF, 0x2E, 0xFF], token,
            ]
            let items = inputs.map {
                SignerFrame.Item(ring: "HS256", version: "k1", algorithm: "HS256", input: $0)
            }
            let strangers = [("HS256", "k2", "HS256"), ("other", "k1", "HS256"), ("ES256", "k1", "HS256")].map {
                SignerFrame.Item(ring: $0.0, version: $0.1, algorithm: $0.2, input: token)
            }
            guard
                case .success(.signatures(_, let answers)) = await connection.ask(
                    within: patience,
                    {
                        .signRequest(id: $0, .live, items + strangers)
                    })
            else {
                Issue.record("no answer")
                return
            }
            #expect(answers.dropLast(4).allSatisfy { $0 == .refused(.notSigningInput) })
            #expect(answers.suffix(3).allSatisfy { $0 == .keyUnavailable })
            guard case .signature(let signature) = answers[7] else {
                Issue.record("not signed")
                return
            }
            #expect(bench.keys["HS256"]?.verificationKey.isValid(signature, of: token) == true)
        }
    }

    @Test func `the signer's socket is for owner and group, replaces a dead one and spares a live one`() async throws {
        let bench = try SignerBench([.hs256])
        // What a signer leaves that was killed; one that ends takes its own name away, not this second one.
        let other = "\(bench.socket)2"
        try await ScriptedSigner { _ in .nothing }.listening(other) {
            try FileManager.default.linkItem(atPath: other, toPath: bench.socket)
        }
        #expect(FileManager.default.fileExists(atPath: bench.socket))
        // A process that another test starts has the socket until it closes what it inherited.
        try await eventually("nobody listens") {
            guard
                let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
                    unixDomainSocketPath: bench.socket
                ).get()
            else { return true }
            try await channel.close()
            return false
        }
        try await bench.withServer {
            let mode = try FileManager.default.attributesOfItem(atPath: bench.socket)[.posixPermissions] as? Int
            #expect(mode == 0o660)
            await #expect {
                try await bench.server().run()
            } throws: { "\($0)".contains("another signer listens on \(bench.socket)") }
            try await ClientBench.with(bench.socket, ["HS256": [.hs256]]) { client in
                await client.signer.waitForKeys(within: patience)
                _ = try await client.signOne("HS256").get()
            }
        }
        #expect(!FileManager.default.fileExists(atPath: bench.socket))
    }

    @Test func `a file that is no signer's socket is not touched`() async throws {
        let bench = try SignerBench([.hs256])
        try Data("mine".utf8).write(to: URL(filePath: bench.socket))
        await #expect {
            try await bench.server().run()
        } throws: { "\($0)".contains("is no socket") }
        #expect(try String(contentsOfFile: bench.socket, encoding: .utf8) == "mine")
        try FileManager.default.moveItem(atPath: bench.socket, toPath: "\(bench.socket).new")
        await #expect {
            try await bench.server().run()
        } throws: { "\($0)".contains("cannot be made") }
        #expect(try String(contentsOfFile: "\(bench.socket).new", encoding: .utf8) == "mine")
        try FileManager.default.removeItem(atPath: "\(bench.socket).new")
        try await ScriptedSigner { _ in .nothing }.listening(bench.socket) {
            await #expect {
                try await bench.server().run()
            } throws: { "\($0)".contains("another signer listens") }
        }
        #expect(throws: SignerError.self) { _ = try SignerSocket(path: "/nowhere/at/all").path }
        #expect(throws: SignerError.self) { _ = try SignerSocket(path: String(repeating: "s", count: 101)).path }
    }

    @Test func `a graceful stop answers what was asked and takes the socket away`() async throws {
        let bench = try SignerBench([.es256])
        let log = RecordingLog()
        let (ready, isReady) = AsyncStream<Void>.makeStream()
        let server = try bench.server(logger: log.logger()) { isReady.finish() }
        let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: silent))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await _ in ready {}
            let connection = try await SignerConnection.open(bench.socket)
            let items = [SignerFrame.Item](
                repeating: .init(
                    ring: "ES256", version: "k1", algorithm: "ES256", input: SignerBench.input(.es256, "one").bytes),
                count: 500)
            async let answer = connection.ask(within: patience) { .signRequest(id: $0, .live, items) }
            await log.line(event: "signer.worker-connected")
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            // Either it was taken and answered whole, or it was not taken at all.
            switch await answer {
            case .success(.signatures(_, let answers)): #expect(answers.count == 500)
            case .failure(.broken): break
            case let other: Issue.record("\(other)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: bench.socket))
        #expect(log.lines.contains { $0.event == "signer.stopped" })
    }

    @Test func `a signer without a ring of its own does not start`() throws {
        #expect(throws: SignerError.self) {
            try SignerServer([], socket: "s", signingLanes: 1, logger: silent, now: { SignerBench.now })
        }
    }
}
