import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import Serving
@testable import Worker

/// Connections that come as an HTTP server ends: whoever accepted them takes them no more, and NIO would stop the process.
@Suite(.timeLimit(.minutes(5))) struct ArrivedConnectionTests {
    private func connect(_ channel: NIOAsyncTestingChannel) async throws {
        // It may have closed itself by now.
        try? await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        try await channel.closeFuture.get()
    }

    @Test func `a connection that nobody accepts closes itself`() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            let connection = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
                wrappingChannelSynchronously: channel)
            _ = ArrivedConnection(connection)
        }
        try await connect(channel)
    }

    @Test func `a connection of an HTTP server that nobody accepts closes itself`() async throws {
        let http = ArrivalChannel(HTTP1Channel(responder: { _, _, _ in }))
        let channel = NIOAsyncTestingChannel()
        // The result is dropped here, as by an accept loop that has ended.
        try await channel.testingEventLoop.submit {
            http.setup(channel: channel, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }).map { _ in }
        }.get().get()
        try await connect(channel)
    }

    @Test func `a connection that is taken stays open`() async throws {
        let channel = NIOAsyncTestingChannel()
        let connection = try await channel.testingEventLoop.executeInContext {
            let connection = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
                wrappingChannelSynchronously: channel)
            return ArrivedConnection(connection).take()
        }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        #expect(channel.isActive)
        try await connection.executeThenClose { _, _ in }
        #expect(!channel.isActive)
    }
}
