import AdapterKit
import AdapterTestSupport
import DeclaredAdapters
import DeclaredTesting
import Testing

/// Vendors' own server libraries beside the tokens of the shipped files.
@Suite(.timeLimit(.minutes(5))) struct VendorLibraryTests {
    /// The libraries that Python has here.
    private static let installed = VendorLibrary.allCases.filter(\.isInstalled)

    @Test(
        .enabled(if: !installed.isEmpty, "python3 has no vendor's library; make setup-tests"), arguments: installed)
    func `a vendor's own library verifies the file's tokens, or makes the same ones`(
        _ library: VendorLibrary
    ) async throws {
        let vendor = try Places.vendor(Places.text(ofShipped: library.rawValue))
        let tests = try #require(vendor.tests)
        var tokens: [VendorLibrary.Tokens.Token] = []
        for test in tests.tokens where test.issuedAt == tests.now && test.rejection == nil {
            let made = try MadeToken(test, tests, vendor)
            tokens.append(
                .init(token: String(decoding: made.token, as: UTF8.self), pem: try made.key.publicKeyPEM()))
        }
        let first = try #require(tests.tokens.first)
        let secret = try MadeToken(first, tests, vendor).key.secret
        let opinions = try await library.judge(
            .init(
                now: tests.now.seconds, secret: secret.map { $0.withBytes { String(decoding: $0, as: UTF8.self) } },
                tokens: tokens))
        #expect(opinions.count == tokens.count)
        #expect(opinions.contains { $0 != "not judged" }, "\(opinions)")
    }
}
