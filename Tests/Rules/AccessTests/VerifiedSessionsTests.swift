import JOSE
import Testing

@testable import Access

@Suite("Sessions that were found good a moment ago")
struct VerifiedSessionsTests {
    private static let now = UnixTime(seconds: 1_800_000_000)
    private let session = Session(
        issuer: "i", signers: [], audiences: [], users: [.init(claim: "sub", user: "u")],
        expiry: now.advanced(bySeconds: 3600), boundKey: nil)

    @Test func `a good session is remembered for half a minute, by its own fingerprint`() {
        let sessions = VerifiedSessions()
        sessions.found(session, as: Fingerprint("a"), at: Self.now)
        #expect(sessions.session(Fingerprint("a"), at: Self.now.advanced(bySeconds: 29)) == session)
        #expect(sessions.session(Fingerprint("a"), at: Self.now.advanced(bySeconds: 30)) == nil)
        #expect(sessions.session(Fingerprint("b"), at: Self.now) == nil)
        #expect(sessions.session(Fingerprint("a"), at: Self.now.advanced(bySeconds: -5)) == nil, "a clock was set back")
    }

    @Test func `a good session stays known until its end, or until it is forgotten`() {
        let sessions = VerifiedSessions()
        sessions.found(session, as: Fingerprint("a"), at: Self.now)
        #expect(sessions.isKnown(Fingerprint("a"), at: Self.now.advanced(bySeconds: 3599)))
        #expect(!sessions.isKnown(Fingerprint("a"), at: Self.now.advanced(bySeconds: 3600)))
        #expect(!sessions.isKnown(Fingerprint("b"), at: Self.now))
        sessions.forget(Fingerprint("a"))
        #expect(!sessions.isKnown(Fingerprint("a"), at: Self.now))
    }

    @Test func `a remembered session is forgotten at its end`() {
        let sessions = VerifiedSessions()
        let short = Session(
            issuer: "i", signers: [], audiences: [], users: session.users,
            expiry: Self.now.advanced(bySeconds: 5), boundKey: nil)
        sessions.found(short, as: Fingerprint("a"), at: Self.now)
        #expect(sessions.session(Fingerprint("a"), at: Self.now.advanced(bySeconds: 4)) == short)
        #expect(sessions.session(Fingerprint("a"), at: Self.now.advanced(bySeconds: 5)) == nil)
    }

    @Test func `the oldest give way`() {
        let sessions = VerifiedSessions(capacity: 10)
        for number in 0..<25 { sessions.found(session, as: Fingerprint("\(number)"), at: Self.now) }
        #expect(sessions.session(Fingerprint("24"), at: Self.now) != nil)
        #expect(sessions.session(Fingerprint("0"), at: Self.now) == nil)
    }

    @Test func `a session of long ago is kept by its fingerprint alone, and an expired one is not kept`() {
        let sessions = VerifiedSessions()
        let short = Session(
            issuer: "i", signers: [], audiences: [], users: session.users,
            expiry: Self.now.advanced(bySeconds: 60), boundKey: nil)
        for number in 0..<100 {
            sessions.found(number < 50 ? session : short, as: Fingerprint("\(number)"), at: Self.now)
        }
        #expect(sessions.count == 200)
        sessions.sweep(at: Self.now.advanced(bySeconds: 31))
        #expect(sessions.count == 100)
        sessions.sweep(at: Self.now.advanced(bySeconds: 61))
        #expect(sessions.count == 50)
        #expect(sessions.isKnown(Fingerprint("0"), at: Self.now.advanced(bySeconds: 61)))
    }
}
