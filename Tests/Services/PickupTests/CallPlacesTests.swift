import Access
import AdapterKit
import Formats
import NIOCore
import Synchronization
import Testing
import WorkerConfiguration

@testable import Pickup

/// Calls that last, and reports that arrive at the same time.
@Suite struct CallPlacesTests {
    private let places = CallPlaces(Configuration.Pickup(), connections: 100)

    private static func asker(
        _ user: String, issuer: String = "https://login.example", device: String? = nil
    ) -> Asker {
        Asker(
            vouched: [], subject: Subject(user: user), device: device, callers: [.user(issuer: issuer, user: user)],
            sessionEnd: nil)
    }

    private final class Held: Sendable {
        private let all = Mutex<[Place]>([])

        func add(_ place: Place) { all.withLock { $0.append(place) } }
    }

    private let held = Held()

    private func take(_ user: String, _ address: String) -> (place: Place?, body: ArrivingBody) {
        let body = ArrivingBody()
        let place = try? places.take(.report, Self.asker(user), "a", from: IPAddress(address)) { body.fail($0) }
        if let place { held.add(place) }
        return (place, body)
    }

    @Test func `an address with many slow reports leaves places to all others`() {
        for number in 0..<CallPlaces.reports.ofAddress {
            #expect(take("user-\(number / 16)", "192.0.2.1").place != nil)
        }
        #expect(take("another", "192.0.2.1").place == nil)
        #expect(take("another", "192.0.2.2").place != nil)
    }

    @Test func `a network of IPv6 addresses counts as one`() {
        for number in 0..<CallPlaces.reports.ofAddress { _ = take("user-\(number)", "2001:db8::\(number + 1)") }
        #expect(take("another", "2001:db8::ffff").place == nil)
        #expect(take("another", "2001:db8:0:1::1").place != nil)
    }

    @Test func `a user has 16 places over all apps, and those of another issuer's user of that id are others`() throws {
        for number in 0..<CallPlaces.reports.ofUser { #expect(take("ann", "192.0.2.\(number + 1)").place != nil) }
        #expect(take("ann", "192.0.2.99").place == nil)
        _ = try places.take(.report, Self.asker("ann", issuer: "https://other.example"), "a", from: nil) { _ in }
    }

    @Test func `the report that has been arriving the longest gives way where all places are taken`() async throws {
        var bodies: [ArrivingBody] = []
        for number in 0..<CallPlaces.reports.most {
            bodies.append(take("user-\(number)", "192.0.\(number / 60).1").body)
        }
        let last = take("honest", "198.51.100.1")
        #expect(last.place != nil)
        await #expect(throws: Problem.self) { try await bodies[0].collect() }
        bodies[1].end()
        _ = try await bodies[1].collect()
        last.place?.release()
        let next = take("honest", "198.51.100.1")
        #expect(next.place != nil)
        bodies[2].end()
        _ = try await bodies[2].collect()
    }

    private func hold(
        _ kind: CallPlaces.Kind, _ user: String, _ app: String, _ ended: Ended, device: String? = nil
    ) -> Place? {
        let place = try? places.take(kind, Self.asker(user, device: device), app, from: nil) { ended.add($0.code) }
        if let place { held.add(place) }
        return place
    }

    /// The codes of the calls that gave way.
    private final class Ended: Sendable {
        private let all = Mutex<[String]>([])
        var codes: [String] { all.withLock { $0 } }

        func add(_ code: String) { all.withLock { $0.append(code) } }
    }

    @Test(arguments: [CallPlaces.Kind.wait, .stream])
    func `a user of an app has as many waiting calls as streams, beside each other`(_ kind: CallPlaces.Kind) throws {
        let (ended, most) = (Ended(), Configuration.Pickup().userStreams)
        for _ in 0..<most { #expect(hold(kind, "ann", "a", ended) != nil) }
        #expect(throws: Problem.self) { try places.take(kind, Self.asker("ann"), "a", from: nil) { _ in } }
        #expect(hold(kind, "ann", "b", ended) != nil && hold(kind, "bob", "a", ended) != nil)
        #expect(hold(kind == .wait ? .stream : .wait, "ann", "a", ended) != nil && ended.codes.isEmpty)
    }

    @Test func `at its user's limit, a device's new stream takes the place of its oldest, and of no other device`() {
        let (first, others, most) = (Ended(), Ended(), Configuration.Pickup().userStreams)
        #expect(hold(.stream, "ann", "a", first, device: "phone") != nil)
        for _ in 1..<most { #expect(hold(.stream, "ann", "a", others, device: "phone") != nil) }
        #expect(first.codes.isEmpty && hold(.stream, "ann", "a", others, device: "tablet") == nil)
        #expect(hold(.stream, "ann", "a", others, device: "phone") != nil)
        #expect(first.codes.count == 1 && others.codes.isEmpty)
        #expect(hold(.stream, "ann", "b", others, device: "phone") != nil, "another app's limit")
        #expect(hold(.stream, "bob", "a", others, device: "phone") != nil && others.codes.isEmpty)
    }

    @Test func `streams and waiting calls have three quarters of the connections, and the user with most gives way`() {
        let ended = Ended()
        var count = 0
        for app in 0..<10 {
            for _ in 0..<5 {
                if hold(.wait, "greedy", "\(app)", ended) != nil { count += 1 }
                if hold(.stream, "greedy", "\(app)", ended) != nil { count += 1 }
            }
        }
        #expect(count == 75 && ended.codes.isEmpty)
        for user in 0..<20 { #expect(hold(.wait, "honest-\(user)", "0", ended) != nil) }
        #expect(ended.codes.count == 20 && ended.codes.first == "too_many_waits")
    }
}
