import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import Pickup

/// Clients that leave, as their streams hear of it.
@Suite struct ClientDepartureTests {
    private final class Calls: Sendable {
        private let number = Atomic(0)

        var count: Int { number.load(ordering: .relaxed) }

        func add() { number.add(1, ordering: .relaxed) }
    }

    private let channel = EmbeddedChannel()

    init() throws {
        try channel.pipeline.syncOperations.addHandler(ClientDeparture())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func told() -> Calls {
        let calls = Calls()
        ClientDeparture.tell(channel) { calls.add() }
        channel.embeddedEventLoop.run()
        return calls
    }

    @Test(arguments: [false, true])
    func `a stream hears once that its client closed its side, or is gone`(isGone: Bool) throws {
        let calls = told()
        #expect(calls.count == 0)
        if isGone {
            try channel.close().wait()
        } else {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            channel.pipeline.fireChannelInactive()
        }
        #expect(calls.count == 1)
    }

    @Test(arguments: [false, true])
    func `a stream whose client left before hears of it at once`(isGone: Bool) throws {
        if isGone {
            try channel.close().wait()
            channel.embeddedEventLoop.run()
        } else {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        #expect(told().count == 1)
    }

    @Test func `a stream hears that its client left, although a request waits behind it`() throws {
        let connection = try WireConnection()
        try connection.channel.pipeline.syncOperations.addHandler(ClientDeparture())
        try connection.send("GET / HTTP/1.1", "Host: a")
        let calls = Calls()
        ClientDeparture.tell(connection.channel) { calls.add() }
        connection.channel.embeddedEventLoop.run()
        try connection.channel.writeInbound(ByteBuffer(string: "G"))
        #expect(calls.count == 0 && connection.gate.count == 1)
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(calls.count == 1)
    }

    @Test func `the connection's next stream takes the place of the one before`() {
        let (first, second) = (told(), told())
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(first.count == 0 && second.count == 1)
    }
}
