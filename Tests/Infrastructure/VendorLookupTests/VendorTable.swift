import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DotdigitalAdapter
import Foundation
import InfobipAdapter
@_spi(Signing) import JOSE
import OneSignalAdapter
import Pipeline
import StubServer
import Synchronization
import Testing
import VendorLookup

/// A vendor with the settings that let it be asked, and what its answers must lead to.
struct AskedVendor: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let adapter: any Adapter
    /// A report of this user, as the SDK shapes it.
    let report: @Sendable (String) -> String
    /// The outcome of a deleted user's event.
    let gone: String
    /// The outcome of an event after a bare 404 without the vendor's body.
    let notFound: String

    /// The five vendors, Bloomreach with both of its tokens.
    static let all = Result {
        [
            AskedVendor(
                testDescription: "Braze", adapter: try BrazeAdapter(settings: .init()),
                report: { #"{"errorCode":22,"userId":"\#($0)"}"# }, gone: "minted", notFound: waits),
            AskedVendor(
                testDescription: "OneSignal",
                adapter: try OneSignalAdapter(settings: .init(appID: "5eb5a37e-b458-11e3-ac11-000c2940e62c")),
                report: { #"{"externalId":"\#($0)"}"# }, gone: "minted", notFound: "minted"),
            AskedVendor(
                testDescription: "Bloomreach stream",
                adapter: try BloomreachAdapter(settings: .init(mode: .stream, lookupProject: "project-1")),
                report: { #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"\#($0)"}}"# }, gone: "minted",
                notFound: waits),
            AskedVendor(
                testDescription: "Dotdigital",
                adapter: try DotdigitalAdapter(settings: .init(issuer: "acme", audience: "https://push.example")),
                report: { #"{"provider":"jsonWebToken","nonce":"n-1","userId":"\#($0)"}"# }, gone: "user_gone",
                notFound: "minted"),
            AskedVendor(
                testDescription: "Infobip",
                adapter: try InfobipAdapter(settings: .init(applicationCode: "code-1")),
                report: { #"{"mm_code":"JWT_TOKEN_EXPIRED","externalUserId":"\#($0)"}"# }, gone: "minted",
                notFound: "minted"),
        ]
    }

    /// A look-up that brought nothing: the event waits in a retry tier and counts an attempt.
    static let waits = "deferred lookup_failed"
    /// A vendor that is not to be asked yet: the event waits, which is no attempt.
    static let later = "deferred awaiting_lookup"
}

/// A vendor's server, a client and a pipeline, and one event on its way through them. The pipeline's clock is moved by hand,
/// so that pauses cost no time; the network is real.
final class VendorRow {
    private final class Clock: Sendable {
        let time = Mutex(UnixTime(seconds: 1_800_000_000))
        var now: UnixTime { time.withLock { $0 } }
    }

    private struct Signing: SigningPort {
        let key: SigningKey
        let reference: SigningKeyReference

        func activeKey(of ring: String) -> SigningKeyReference? { reference }

        func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
            requests.map { request in
                guard let signature = try? Signer(key).sign(request.input.bytes) else {
                    return .failure(Rejection(.mintFailed, "it cannot sign"))
                }
                return .success(signature)
            }
        }
    }

    private let vendor: AskedVendor
    private let clock = Clock()
    private let signing: Signing
    private let terms: LookupTerms
    private static let secret = "a-secret-for-the-vendor"

    init(_ vendor: AskedVendor) throws {
        self.vendor = vendor
        terms = try #require(vendor.adapter.termsOfLookups)
        let algorithm = vendor.adapter.algorithm
        let key =
            vendor.adapter.algorithm.rawValue.hasPrefix("HS")
            ? try SigningKey(
                secret: SecretBytes(copying: Array(repeating: 7, count: 64)), algorithm: algorithm, keyID: "k-1")
            : try SigningKey.generate(algorithm)
        signing = Signing(
            key: key,
            reference: SigningKeyReference(
                ring: "ring", version: "k-1", keyID: "k-1", algorithm: algorithm, retireAfter: nil))
    }

    /// Returns the outcome of `user`'s event.
    ///
    /// - Parameters:
    ///   - prepare: makes the server misbehave.
    ///   - secret: what the client proves its right with.
    func outcome(
        of user: String = "ann", unknownUser: LookupTerms.UnknownUser = .mint, secret: String = VendorRow.secret,
        timeout: Duration = .seconds(300), _ prepare: (StubServer) -> Void = { _ in }
    ) async throws -> String {
        let setting = StubSetting(
            authorization: authorization(Self.secret), keys: [signing.key.verificationKey], gone: ["deleted"],
            unknown: ["newcomer"])
        let stub = try #require((vendor.adapter as? any StubbedAdapter)?.stub(setting))
        let clock = clock
        let server = try await StubServer.start(stub, now: { clock.now })
        prepare(server)
        let endpoint = LookupEndpoint(
            account: "app", url: server.url, authorization: terms.authorization, credentials: credentials(secret),
            timeout: timeout, certificateAuthority: nil, concurrency: 2)
        let outcome = try await LookupBench.with([endpoint], signer: signing, now: { clock.now }) { bench in
            try await self.play(user, unknownUser, &bench)
        }
        await server.stop()
        return outcome
    }

    private func play(
        _ user: String, _ unknownUser: LookupTerms.UnknownUser, _ bench: inout LookupBench
    ) async throws -> String {
        let clock = clock
        let app = App(
            name: "app", adapter: vendor.adapter, keyRing: "ring", lifetime: 900,
            lookup: AppLookup(
                account: "app", mode: .verify, unknownUser: unknownUser, onFailure: .retry, patience: .seconds(300),
                lifetimes: .init(exists: .seconds(3600), gone: .seconds(3600), unknown: .seconds(3600))))
        var processor = BatchProcessor(
            apps: [app], signing: signing, maximumEventBytes: 1 << 20,
            accounts: [
                LookupAccount(
                    name: "app", rates: terms.rates, batch: terms.batch, concurrency: 2,
                    usesMintedTokens: terms.authorization == .mintedToken)
            ], now: { clock.now })
        let record = InputRecord(
            origin: RecordPosition(topic: "in", partition: 0, offset: 0), timestamp: nil, key: nil,
            value: Array(vendor.report(user).utf8), headers: [RecordHeader("remint-app", "app")])
        let batch = { (waiting: Waiting) in Batch(number: 1, records: [record], waiting: waiting) }
        var processed = await processor.process(batch(.allowed))
        var requests = 0
        while !processed.parked.isEmpty, requests < 10 {
            let calls = processor.lookups()
            if calls.isEmpty {
                guard let next = processor.nextLookup else { break }
                clock.time.withLock { $0 = $0 < next ? next : $0 }
                continue
            }
            requests += calls.count
            bench.client.ask(calls)
            processor.received(await bench.replies(calls.count))
            processed = await processor.process(batch(.resumed))
        }
        if !processed.parked.isEmpty { processed = await processor.process(batch(.over)) }
        guard let settlement = processed.settlements.first else { return "it never ends" }
        switch settlement.outcome {
        case .deferred(_, let deferral): return "deferred \(deferral.name)"
        case .deadLettered(let code): return code.rawValue
        default: return settlement.outcome.name
        }
    }

    private func authorization(_ secret: String) -> String? {
        switch terms.authorization {
        case .mintedToken: nil
        case .key(let scheme): "\(scheme) \(secret)"
        case .basic: "Basic \(Data("user:\(secret)".utf8).base64EncodedString())"
        }
    }

    private func credentials(_ secret: String) -> LookupEndpoint.Credentials {
        switch terms.authorization {
        case .mintedToken: .none
        case .key: .key(SecretBytes(copying: secret.utf8))
        case .basic: .basic(user: "user", password: SecretBytes(copying: secret.utf8))
        }
    }
}
