import Access
import AdapterKit
import Formats
import NIOCore
import Testing

@testable import Pickup

/// Reports that arrive at the same time.
@Suite struct ReportPlacesTests {
    private let places = ReportPlaces()

    private static func asker(_ user: String, issuer: String = "https://login.example") -> Asker {
        Asker(
            vouched: [], subject: Subject(user: user), device: nil, callers: [.user(issuer: issuer, user: user)],
            sessionEnd: nil)
    }

    private func take(_ user: String, _ address: String) -> (number: Int?, body: ArrivingBody) {
        let body = ArrivingBody()
        return (try? places.take(Self.asker(user), from: IPAddress(address), body), body)
    }

    @Test func `an address with many slow reports leaves places to all others`() {
        for number in 0..<ReportPlaces.ofAddress { #expect(take("user-\(number / 16)", "192.0.2.1").number != nil) }
        #expect(take("another", "192.0.2.1").number == nil)
        #expect(take("another", "192.0.2.2").number != nil)
    }

    @Test func `a network of IPv6 addresses counts as one`() {
        for number in 0..<ReportPlaces.ofAddress { _ = take("user-\(number)", "2001:db8::\(number + 1)") }
        #expect(take("another", "2001:db8::ffff").number == nil)
        #expect(take("another", "2001:db8:0:1::1").number != nil)
    }

    @Test func `a user has 16 places over all apps, and those of another issuer's user of that id are others`() throws {
        for number in 0..<ReportPlaces.ofUser { #expect(take("ann", "192.0.2.\(number + 1)").number != nil) }
        #expect(take("ann", "192.0.2.99").number == nil)
        _ = try places.take(Self.asker("ann", issuer: "https://other.example"), from: nil, ArrivingBody())
    }

    @Test func `the report that has been arriving the longest gives way where all places are taken`() async throws {
        var bodies: [ArrivingBody] = []
        for number in 0..<ReportPlaces.most {
            bodies.append(take("user-\(number)", "192.0.\(number / 60).1").body)
        }
        let last = take("honest", "198.51.100.1")
        #expect(last.number != nil)
        await #expect(throws: ReportPlaces.GaveWay.self) { try await bodies[0].collect() }
        bodies[1].end()
        _ = try await bodies[1].collect()
        if let number = last.number { places.release(number) }
        let next = take("honest", "198.51.100.1")
        #expect(next.number != nil)
        bodies[2].end()
        _ = try await bodies[2].collect()
    }
}
