import Foundation
import JOSE
import Kafka
import Keyring
import ProgramTestSupport
import Testing

extension CampaignScenarios.CampaignTests {
    // MARK: Old files, and others' files

    @Test func `an open campaign of the old form goes on behind its checkpoint`() async throws {
        let shop = try await Shop.open()
        let worker = try await shop.startWorker()
        let operatorOf = Operator(shop: shop, ring: Self.app)
        try await issue(10, shop)
        try await operatorOf.does("prepare")
        try await operatorOf.does("promote", "--now")
        let versions = try shop.ring(Self.app).versions.map(\.id)
        let folder = shop.folder.appending(path: "keys/\(Self.app)")
        func write(_ text: String, _ name: String) throws {
            let path = folder.appending(path: name)
            try Data(text.utf8).write(to: path)
            try setMode(0o600, of: path.path)
        }
        try write(
            #"{"from":"\#(versions[0])","to":"\#(versions[1])","phase":"waves","begun":"2026-11-01T00:00:00Z","canary_since":"2026-11-01T00:05:00Z"}"#
                + "\n", "rotation.json")
        try write(
            #"{"job":"an-old-job","input":"ledger of \#(versions[0])","rows":4,"sent":4,"rejected":0,"rejects_length":0,"finished":false}"#
                + "\n", "rotation-\(versions[1]).json")
        try write((0..<10).map { "\(Self.app)/u\($0)\n" }.joined(), "rotation-\(versions[1]).subjects")
        let first = try await operatorOf.run(
            "reissue", ["--rate", "0", "--answer-within", "5s"], brokers: true)
        // The first four are noted as sent, and were not: the ledger knows.
        #expect(first.status == 1, "\(first.outputText)")
        #expect(first.errorText.contains("4 live tokens of \(versions[0]) are left"), "\(first.errorText)")
        try await operatorOf.does("reissue", "--rate", "0", brokers: true)
        let status = try await operatorOf.status()
        #expect(status["live_old"] as? Int == 0 && status["phase"] as? String == "reissued", "\(status)")
        #expect((status["campaign"] as? String)?.hasPrefix("old-") == true, "\(status)")
        worker.terminate()
        await worker.waitForEnd()
        await shop.broker.close()
    }

    @Test func `the checkpoint of another campaign is refused`() async throws {
        let shop = try await Shop.open()
        let operatorOf = Operator(shop: shop, ring: Self.app)
        try await operatorOf.does("prepare")
        try await operatorOf.does("promote", "--now")
        let id = try #require(try await operatorOf.status()["campaign"] as? String)
        let path = shop.folder.appending(path: "keys/\(Self.app)/rotation-\(id).json")
        try Data(
            #"{"job":"j","campaign":"another","round":1,"input":"ledger of x","rows":4,"sent":4,"rejected":0,"rejects_length":0}"#
                .utf8
        ).write(to: path)
        try await operatorOf.isRefused("reissue", brokers: true, saying: "the checkpoint of the campaign another")
        await shop.broker.close()
    }
}
