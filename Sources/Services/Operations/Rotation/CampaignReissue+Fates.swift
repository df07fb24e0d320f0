import Formats
import Keyring

/// The outcomes of a campaign's events that did not become tokens.
extension CampaignReissue {
    /// Returns why users of `rotation` still hold a token of the old version, as counts of the last events of these users.
    func fates(_ rotation: Rotation) async throws -> String {
        let ids = try await openEvents(rotation)
        let counts = try await topics.fates(of: rotation, at: ring.now()).counts(of: ids)
        let waiting =
            await topics.lag.map {
                $0 > 0
                    ? $0.of("event of the bulk lane waits for a worker", "events of the bulk lane wait for a worker")
                    : ""
            } ?? ""
        let parts = [counts, waiting].filter { !$0.isEmpty }
        return
            (parts.isEmpty
            ? "no event of the campaign waits or failed, so workers answered with another version"
            : parts.joined(separator: ", "))
            + (try await held())
    }

    /// Returns the users who hold a token of the old version and are unknown to the vendor by now, by the last
    /// outcomes of their events in the present round.
    func gone(_ rotation: Rotation) async throws -> GoneUsers {
        guard let progress = try campaign.progress(of: rotation) else { return GoneUsers() }
        let prefix = "\(progress.job)-"
        let rows = Set(
            try await topics.fates(of: rotation, at: ring.now()).ofGoneUsers.filter { $0.hasPrefix(prefix) }
                .compactMap { Int($0.dropFirst(prefix.count)) })
        guard !rows.isEmpty else { return GoneUsers() }
        var subjects: Set<SubjectHash> = []
        try CampaignList(campaign.files(of: rotation), ring.configuration).each { member in
            if rows.contains(member.row) { subjects.insert(SubjectHash(member.key)) }
        }
        let holders = try await held(rotation).holders.filter { subjects.contains(SubjectHash($0.key)) }
        return GoneUsers(count: holders.count, lastEnd: holders.map(\.expiresAt).max())
    }

    /// Returns the ids of the present round's events whose users still hold a token of the old version. A user who was
    /// answered meanwhile has outcomes of earlier events on the topics too.
    private func openEvents(_ rotation: Rotation) async throws -> Set<String> {
        guard let progress = try campaign.progress(of: rotation) else { return [] }
        let holders = Set(try await held(rotation).holders.map { SubjectHash($0.key) })
        var ids: Set<String> = []
        try CampaignList(campaign.files(of: rotation), ring.configuration).each { member in
            if holders.contains(SubjectHash(member.key)) { ids.insert(progress.eventID(row: member.row)) }
        }
        return ids
    }
}
