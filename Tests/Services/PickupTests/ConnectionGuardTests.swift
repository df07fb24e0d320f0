import Access
import AdapterKit
import Formats
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Serving
import Synchronization
import Testing
import WorkerConfiguration

@testable import Pickup

/// Connections over a clock that the test moves.
@Suite struct ConnectionGuardTests {
    private final class Reasons: Sendable {
        private let all = Mutex<[ConnectionGuard.Reason]>([])

        var noted: [ConnectionGuard.Reason] { all.withLock { $0 } }

        func note(_ reason: ConnectionGuard.Reason) { all.withLock { $0.append(reason) } }
    }

    private let reasons = Reasons()
    private let channel = EmbeddedChannel()

    init() throws {
        let reasons = reasons
        try channel.pipeline.syncOperations.addHandler(ConnectionGuard { reasons.note($0) })
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func receive(_ part: HTTPRequestPart) throws { try channel.writeInbound(part) }

    private func receiveHead() throws {
        try receive(.head(HTTPRequest(method: .post, scheme: "http", authority: "x", path: "/")))
    }

    private func answer() throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    private func pass(seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

    @Test func `a connection whose first head does not come is closed`() {
        pass(seconds: 29)
        #expect(channel.isActive)
        pass(seconds: 1)
        #expect(!channel.isActive && reasons.noted == [.headTimeout])
    }

    @Test func `a connection whose body does not end is closed, even after the answer`() throws {
        try receiveHead()
        try answer()
        pass(seconds: 30)
        #expect(!channel.isActive && reasons.noted == [.bodyTimeout])
    }

    @Test func `a connection whose body is too large is closed`() throws {
        try receiveHead()
        for _ in 0..<17 { try receive(.body(ByteBuffer(repeating: 0, count: 64 << 10))) }
        #expect(!channel.isActive && reasons.noted == [.bodyTooLarge])
    }

    @Test func `a client that does not read its answers is closed, and one that reads some of them in time is not`()
        throws
    {
        func setWritable(_ isWritable: Bool) {
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
        }
        try receiveHead()
        try receive(.end(nil))
        setWritable(false)
        pass(seconds: 29)
        setWritable(true)
        pass(seconds: 100)
        setWritable(false)
        pass(seconds: 29)
        #expect(channel.isActive)
        pass(seconds: 1)
        #expect(!channel.isActive && reasons.noted == [.unread])
    }

    @Test(arguments: [false, true])
    func `the next head is awaited, whichever of request and answer ends last`(isAnsweredFirst: Bool) throws {
        try receiveHead()
        if isAnsweredFirst { try answer() }
        try receive(.end(nil))
        if !isAnsweredFirst {
            // An answer may take its time: a device waits for its token.
            pass(seconds: 1000)
            #expect(channel.isActive)
            try answer()
        }
        pass(seconds: 89)
        #expect(channel.isActive)
        pass(seconds: 1)
        #expect(!channel.isActive && reasons.noted == [.headTimeout])
    }

    @Test func `a connection beyond those of its address is closed, and one that ends makes room`() throws {
        let connections = OpenConnections(most: 10, ofAddress: 1)
        let (reasons, address) = (reasons, try SocketAddress(ipAddress: "192.0.2.1", port: 1))
        func connect() throws -> EmbeddedChannel {
            let channel = EmbeddedChannel()
            try channel.pipeline.syncOperations.addHandler(ConnectionGuard(among: connections) { reasons.note($0) })
            channel.remoteAddress = address
            try channel.connect(to: address).wait()
            return channel
        }
        let first = try connect()
        #expect(try !connect().isActive && reasons.noted == [.tooManyOfAddress])
        try first.close().wait()
        #expect(try connect().isActive)
    }

    /// Connections of which `most` may be open, each from an address of its own.
    private struct Crowd {
        let connections: OpenConnections
        let reasons: Reasons

        func connect(_ number: Int) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel()
            try channel.pipeline.syncOperations.addHandler(
                ConnectionGuard(among: connections, kind: PickupCall.kind) { [reasons] in reasons.note($0) })
            let address = try SocketAddress(ipAddress: "192.0.2.\(number % 250 + 1)", port: 1)
            channel.remoteAddress = address
            try channel.connect(to: address).wait()
            return channel
        }
    }

    private func ask(_ path: String, _ channel: EmbeddedChannel, status: HTTPResponse.Status? = nil) throws {
        try channel.writeInbound(
            HTTPRequestPart.head(HTTPRequest(method: .get, scheme: "http", authority: "a", path: path)))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        guard let status else { return }
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: status)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test func `idle strangers lose their places before anybody else, and calls that wait never do`() throws {
        let connections = OpenConnections(most: 4, ofAddress: 4)
        let crowd = Crowd(connections: connections, reasons: reasons)
        let known = try crowd.connect(0)
        try ask("/v1/apps/a/token", known, status: .ok)
        let waiting = try crowd.connect(1)
        try ask("/v1/apps/a/token?wait=30", waiting)
        let (silent, refused) = (try crowd.connect(2), try crowd.connect(3))
        try ask("/v1/apps/a/token", refused, status: .unauthorized)
        // The silent one waits for its client for a longer time than the refused one.
        let fifth = try crowd.connect(4)
        #expect(fifth.isActive && !silent.isActive && refused.isActive)
        let sixth = try crowd.connect(5)
        #expect(sixth.isActive && !refused.isActive)
        // Among nothing but known and waiting ones, the known ones that are idle give way.
        try ask("/v1/apps/a/token?wait=30", fifth)
        try ask("/v1/apps/a/token?wait=30", sixth)
        let seventh = try crowd.connect(6)
        #expect(seventh.isActive && !known.isActive && waiting.isActive)
        try ask("/v1/apps/a/token?wait=30", seventh)
        // Now nobody gives way, until a client closes its side: a connection may check the gateway's health, and nothing else.
        let probe = try crowd.connect(7)
        try ask("/health/ready", probe, status: .ok)
        #expect(probe.isActive)
        let other = try crowd.connect(8)
        try ask("/v1/apps/a/token", other)
        #expect(!other.isActive && reasons.noted == [.gaveWay, .gaveWay, .gaveWay, .tooMany])
        #expect(waiting.isActive && fifth.isActive && sixth.isActive && seventh.isActive)
        fifth.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        sixth.pipeline.fireUserInboundEventTriggered(ConnectionGuard.InputEnded())
        for number in 9...10 { #expect(try crowd.connect(number).isActive) }
        #expect(waiting.isActive && !fifth.isActive && !sixth.isActive && seventh.isActive)
    }

    @Test(arguments: ["/v1/apps/a/token", "http://a/v1/apps/a/token"])
    func `a known caller's connection is known by either form of its call's target`(_ path: String) throws {
        let connections = OpenConnections(most: 2, ofAddress: 4)
        let crowd = Crowd(connections: connections, reasons: reasons)
        let known = try crowd.connect(0)
        try ask(path, known, status: .ok)
        let stranger = try crowd.connect(1)
        #expect(try crowd.connect(2).isActive)
        #expect(known.isActive && !stranger.isActive)
    }

    @Test func `health checks keep a place, however many silent connections come`() throws {
        let connections = OpenConnections(most: 1, ofAddress: 1000)
        let crowd = Crowd(connections: connections, reasons: reasons)
        let waiting = try crowd.connect(0)
        try ask("/v1/apps/a/token?wait=30", waiting)
        let silent = try (1...200).map { try crowd.connect($0) }
        #expect(silent.count { $0.isActive } == OpenConnections.healthPlaces)
        let probe = try crowd.connect(201)
        try ask("/health/live", probe, status: .ok)
        #expect(probe.isActive && waiting.isActive)
    }

    @Test func `one account with any mix of long calls leaves connections to everybody else`() throws {
        let crowd = Crowd(connections: OpenConnections(most: 100, ofAddress: 1000), reasons: reasons)
        let places = CallPlaces(Configuration.Pickup(), connections: 100)
        var held: [Place] = []
        var connections: [EmbeddedChannel] = []
        /// Begins a call that lasts, on a new connection; one without a place ends at once.
        func begin(_ kind: CallPlaces.Kind, _ user: String, _ app: String, _ number: Int) throws -> Bool {
            let channel = try crowd.connect(number)
            connections.append(channel)
            guard channel.isActive else { return false }
            let asker = Asker(
                vouched: [], subject: Subject(user: user), device: nil,
                callers: [.user(issuer: "https://login.example", user: user)], sessionEnd: nil)
            let place = try? places.take(kind, asker, app, from: IPAddress("192.0.2.1")) { _ in }
            try ask("/v1/apps/\(app)/token", channel, status: place == nil ? .tooManyRequests : nil)
            if let place { held.append(place) }
            return place != nil
        }
        for number in 0..<400 {
            switch number % 4 {
            case 0: _ = try begin(.wait, "greedy", "app-\(number / 20)", 0)
            case 1: _ = try begin(.stream, "greedy", "app-\(number / 20)", 0)
            case 2:
                if try begin(.wait, "greedy", "app-\(number / 20)", 0) { held.removeLast() }
                connections.last?.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            default: connections.append(try crowd.connect(0))
            }
        }
        for user in 0..<20 { #expect(try begin(.wait, "honest-\(user)", "app-0", user)) }
        #expect(connections.suffix(20).allSatisfy { $0.isActive } && !reasons.noted.contains(.tooMany))
    }
}
