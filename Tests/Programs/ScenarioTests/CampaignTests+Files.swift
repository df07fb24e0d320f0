import Foundation
import JOSE
import Kafka
import Keyring
import ProgramTestSupport
import Testing

extension CampaignScenarios.CampaignTests {
    // MARK: Others' files

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
