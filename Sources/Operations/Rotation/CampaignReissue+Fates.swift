import Keyring

/// The outcomes of a campaign's events that did not become tokens.
extension CampaignReissue {
    /// Returns why users of `rotation` still hold a token of the old version, as counts.
    func fates(_ rotation: Rotation) async throws -> String {
        let counts = try await topics.fates(of: rotation, at: ring.now()).counts
        let waiting = await topics.lag.map { $0 > 0 ? "\($0) events of the bulk lane wait for a worker" : "" } ?? ""
        let parts = [counts, waiting].filter { !$0.isEmpty }
        return
            (parts.isEmpty
            ? "no event of the campaign waits or failed, so workers answered with another version"
            : parts.joined(separator: ", "))
            + (try await heldApps())
    }
}
