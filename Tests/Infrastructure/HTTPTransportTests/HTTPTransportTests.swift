import AsyncTestSupport
import CertificateTestSupport
import Foundation
import HTTPTransport
import NIOCore
import Testing

@Suite("The transport", .timeLimit(.minutes(5))) struct HTTPTransportTests {
    private func with(
        _ fault: Fault?, _ body: (FaultyServer, TrustedAuthorities) async throws -> Void
    ) async throws {
        let certificates = try await TestCertificates.ofLocalhost()
        let server = try await FaultyServer.start(certificates, fault: fault, body: #"{"a":1}"#)
        try await body(server, TrustedAuthorities(file: certificates.path("authority.pem")))
        await server.stop()
    }

    private func request(_ server: FaultyServer, reading: TransportRequest.Reading = .body(upTo: 1000))
        -> TransportRequest
    {
        TransportRequest(url: "\(server.url)/path?query=s3cr3t", host: server.host, reading: reading)
    }

    private func error(
        _ request: TransportRequest, _ authorities: TrustedAuthorities?, within limit: Duration = .seconds(240)
    ) async -> TransportError? {
        do throws(TransportError) {
            _ = try await HTTPTransport.send(request, trusting: authorities, within: limit)
            return nil
        } catch { return error }
    }

    @Test func `an answer comes whole, and its connection serves the next request`() async throws {
        try await with(nil) { server, authorities in
            let transport = HTTPTransport(trusting: authorities, limit: .seconds(240))
            for _ in 1...3 {
                let response = try await transport.send(request(server), within: .seconds(240))
                #expect(response.status == 200 && response.body == Array(#"{"a":1}"#.utf8))
                #expect(response.header("Content-Type") == "application/json")
            }
            #expect(server.connections == 1)
            await transport.close()
            try await eventually("the connection is closed") { server.open == 0 }
            await #expect(throws: TransportError(server.host, .canceled)) {
                try await transport.send(request(server), within: .seconds(240))
            }
        }
    }

    @Test func `a certificate of an unknown authority is refused`() async throws {
        try await with(nil) { server, _ in
            #expect(await error(request(server), nil)?.reason == .untrusted)
            #expect(server.requests == 0)
        }
    }

    /// At its real scale: a drip of five seconds keeps a client with a limit on silence alone waiting for ever.
    @Test func `a byte every five seconds ends at the deadline`() async throws {
        try await with(.drip(every: .seconds(5))) { server, authorities in
            let start = ContinuousClock.now
            let error = await error(request(server), authorities, within: .seconds(7))
            #expect(error?.description == "\(server.host): no answer within 7 s")
            #expect(.now - start >= .seconds(7))
            try await eventually("the connection is closed") { server.open == 0 }
        }
    }

    /// An answer may come before the client has sent the end of its body.
    @Test func `a server that answers and closes at once gets hundreds of requests with bodies`() async throws {
        try await with(.goodbye) { server, authorities in
            let transport = HTTPTransport(trusting: authorities, limit: .seconds(240), connections: 8)
            let request = TransportRequest(
                "POST", url: server.url, host: server.host, body: [UInt8](repeating: 0x20, count: 20_000),
                reading: .body(upTo: 1000))
            let answered = await withTaskGroup(of: Int.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        var answered = 0
                        for _ in 1...50 {
                            // A request may meet a connection that has just been closed.
                            let response = try? await transport.send(request, within: .seconds(240))
                            answered += response?.status == 200 ? 1 : 0
                        }
                        return answered
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(answered > 0)
            await transport.close()
            try await eventually("no connection is left") { server.open == 0 }
        }
    }

    @Test func `the cancellation of a task closes the connection`() async throws {
        try await with(.stall) { server, authorities in
            let task = Task { await error(request(server), authorities) }
            try await eventually("the request") { server.requests == 1 }
            task.cancel()
            #expect(await task.value?.reason == .canceled)
            try await eventually("the connection is closed") { server.open == 0 }
        }
    }

    @Test func `the close of a transport ends what is under way`() async throws {
        try await with(.stall) { server, authorities in
            let transport = HTTPTransport(trusting: authorities, limit: .seconds(240))
            let task = Task { () -> TransportError? in
                do throws(TransportError) {
                    _ = try await transport.send(request(server), within: .seconds(240))
                    return nil
                } catch { return error }
            }
            try await eventually("the request") { server.requests == 1 }
            await transport.close()
            #expect(await task.value != nil)
            try await eventually("the connection is closed") { server.open == 0 }
        }
    }

    @Test(arguments: [7, 6]) func `a body of as many bytes as allowed is read, and none of more`(_ limit: Int)
        async throws
    {
        try await with(nil) { server, authorities in
            let found = await error(request(server, reading: .body(upTo: limit)), authorities)
            #expect(found?.reason == (limit == 7 ? nil : .tooLong(status: 200, limit: 6)))
        }
    }

    @Test func `a head is enough where nothing else is asked for, also a redirect's`() async throws {
        for fault in [Fault.stall, .redirect(to: "http://127.0.0.1:1/"), .encoded] {
            try await with(fault) { server, authorities in
                let response = try await HTTPTransport.send(
                    request(server, reading: .head), trusting: authorities, within: .seconds(240))
                #expect(response.status == (fault == .stall || fault == .encoded ? 200 : 302))
                #expect(response.body.isEmpty)
            }
        }
    }

    @Test func `a string that is no URL is refused`() async {
        for url in ["", "not a url", "https://"] {
            let request = TransportRequest(url: url, host: "host", reading: .head)
            #expect(await error(request, nil) != nil)
        }
    }

    @Test(arguments: [(0o664, "has mode 664"), (0o646, "has mode 646"), (0o644, nil)] as [(Int, String?)])
    func `authorities in a file that others can change are not trusted`(_ mode: Int, _ complaint: String?)
        async throws
    {
        let certificates = try await TestCertificates.ofLocalhost()
        let path = certificates.path("authority.pem")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        do throws(EndpointError) {
            _ = try TrustedAuthorities(file: path)
            #expect(complaint == nil)
        } catch { #expect(complaint.map { error.description.contains($0) } == true, "\(error)") }
    }
}
