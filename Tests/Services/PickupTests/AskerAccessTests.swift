import Access
import AdapterKit
import Formats
import HTTPTypes
import HummingbirdCore
@_spi(Signing) import JOSE
import NIOCore
import Testing

@testable import Pickup

/// The callers of requests, and the limits that each of them meets.
@Suite struct AskerAccessTests {
    private static let now = UnixTime(seconds: 1_800_000_000)
    private let key: SigningKey

    init() throws { key = try SigningKey.generate(.es256, keyID: "k") }

    private func access(requiresProof: Bool) throws -> AskerAccess {
        let set = try KeySet(parsing: try JWK.setJSON(of: [key.verificationKey]), algorithms: [.es256])
        let rules = SessionRules(issuer: "https://login.example", audience: nil)
        let devices = DeviceAccess(
            sessions: [SessionVerifier(rules: rules, keys: StaticKeys(set))], proofs: DPoPVerifier(),
            requiresProof: requiresProof)
        let start = ContinuousClock.now
        var limits = LimitRules()
        (limits.caller, limits.total) = (RequestRate(perSecond: 1, burst: 3), RequestRate(perSecond: 1, burst: 20))
        let arrivals = Arrivals(
            devices: devices, backends: APIKeys([]), limits: SharedLimits(limits) { start },
            now: { Self.now }, refused: { _ in })
        return AskerAccess(
            apps: [:], devices: devices, backends: APIKeys([]), arrivals: arrivals, publicURL: "http://127.0.0.1:80",
            now: { Self.now }, isClockInDoubt: { false }, refused: { _ in })
    }

    /// Returns a session of `user`, one of several, that was verified before.
    private func session(_ user: String, _ number: Int, _ access: AskerAccess) async throws -> String {
        let claims = #"{"iss":"https://login.example","sub":"\#(user)","jti":"\#(number)","exp":1800003600}"#
        let input =
            Base64.url.encode(Array(#"{"alg":"ES256","kid":"k"}"#.utf8)) + "." + Base64.url.encode(Array(claims.utf8))
        let text = input + "." + Base64.url.encode(try Signer(key).sign(Array(input.utf8)))
        let credentials = DeviceCredentials(scheme: .bearer, session: Array(text.utf8))
        _ = try await access.devices?.session(of: credentials, now: Self.now)
        return text
    }

    private func status(_ session: String, _ access: AskerAccess) async -> Int {
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: "a", path: "/v1/apps/none/token",
            headerFields: [.authorization: "Bearer \(session)"])
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        do {
            _ = try await access.asker(of: request, for: "none", from: IPAddress("192.0.2.1"), within: .zero)
            return 200
        } catch { return error.status.code }
    }

    @Test(arguments: [false, true])
    func `an account with many sessions meets its own limit first, whatever its requests are refused for`(
        requiresProof: Bool
    ) async throws {
        let access = try access(requiresProof: requiresProof)
        var statuses: [Int: Int] = [:]
        for number in 0..<60 {
            statuses[await status(try await session("greedy", number, access), access), default: 0] += 1
        }
        let refused = requiresProof ? 401 : 404
        #expect(statuses == [refused: 3, 429: 57])
        #expect(await status(try await session("honest", 0, access), access) == refused)
    }
}
