import AdapterKit
import StubServer
import Testing

/// The outcome of each of a vendor's answers and failures, over a real connection: one event, one row.
@Suite(.timeLimit(.minutes(5))) struct VendorTableTests {
    @Test(arguments: try AskedVendor.all.get())
    func `the vendor's knowledge of a user decides the event`(_ vendor: AskedVendor) async throws {
        let row = try VendorRow(vendor)
        #expect(try await row.outcome(of: "ann") == "minted")
        #expect(try await row.outcome(of: "deleted") == vendor.gone)
        #expect(try await row.outcome(of: "newcomer", unknownUser: .mint) == "minted")
        #expect(try await row.outcome(of: "newcomer", unknownUser: .reject) == "user_gone")
        #expect(try await row.outcome(of: "deleted", unknownUser: .reject) == "user_gone")
    }

    private static let troubles: [(name: String, misbehaviour: Misbehaviour, end: String)] = [
        ("400", .status(400), AskedVendor.waits), ("401", .status(401), AskedVendor.waits),
        ("403", .status(403), AskedVendor.waits),
        ("429 with Retry-After", .throttled(retryAfter: 7), AskedVendor.later),
        ("429 without", .throttled(retryAfter: nil), AskedVendor.later), ("500", .status(500), AskedVendor.waits),
        ("503", .status(503), AskedVendor.waits), ("302", .status(302), AskedVendor.waits),
        ("other JSON", .wrongJSON, AskedVendor.waits), ("a web page", .webPage, AskedVendor.waits),
        ("garbage", .garbage, AskedVendor.waits), ("reset", .reset, AskedVendor.waits),
        ("hung up", .hangUp, AskedVendor.waits), ("truncated", .truncated, AskedVendor.waits),
        ("truncated chunks", .truncatedChunks, AskedVendor.waits), ("10 MB", .oversized, AskedVendor.waits),
        ("10 MB, declared", .oversized(bytes: 10 << 20, declared: true), AskedVendor.waits),
        ("a huge head", .oversizedHead(bytes: 1 << 20), AskedVendor.waits),
    ]

    @Test(arguments: try AskedVendor.all.get())
    func `an unusable answer leaves the event waiting`(_ vendor: AskedVendor) async throws {
        let row = try VendorRow(vendor)
        for trouble in Self.troubles {
            let end = try await row.outcome { $0.misbehaviour = trouble.misbehaviour }
            #expect(end == trouble.end, "\(trouble.name)")
        }
        #expect(try await row.outcome { $0.misbehaviour = .status(404) } == vendor.notFound, "404")
    }

    @Test(arguments: try AskedVendor.all.get(), [Misbehaviour.silence, .slowLoris, .slowHead])
    func `a vendor that takes too long is given up`(_ vendor: AskedVendor, _ misbehaviour: Misbehaviour) async throws {
        let row = try VendorRow(vendor)
        let end = try await row.outcome(timeout: .milliseconds(200)) { $0.misbehaviour = misbehaviour }
        #expect(end == AskedVendor.waits)
    }

    @Test(arguments: try AskedVendor.all.get())
    func `wrong credentials make the event wait`(_ vendor: AskedVendor) async throws {
        let row = try VendorRow(vendor)
        guard vendor.adapter.termsOfLookups?.authorization != .mintedToken else { return }
        #expect(try await row.outcome(secret: "another") == AskedVendor.waits)
    }

    @Test(arguments: try AskedVendor.all.get())
    func `a redirect is not followed, wherever it leads`(_ vendor: AskedVendor) async throws {
        let row = try VendorRow(vendor)
        let trap = RecordingVendor()
        let other = try await StubServer.start(trap.stub, now: { LookupBench.time })
        let end = try await row.outcome { $0.misbehaviour = .redirect(to: other.url + "/users") }
        #expect(end == AskedVendor.waits && trap.requests.isEmpty)
        await other.stop()
    }

    @Test(arguments: try AskedVendor.all.get())
    func `a vendor that fails for a moment is asked again, and its answer counts`(_ vendor: AskedVendor) async throws {
        let row = try VendorRow(vendor)
        for misbehaviour in [Misbehaviour.status(500), .reset, .truncated, .wrongJSON] {
            let end = try await row.outcome { $0.misbehave(misbehaviour, for: 1) }
            #expect(end == "minted", "\(misbehaviour)")
        }
    }
}
