import AdapterKit
import ArgumentParser
import Keyring
import Logging
import Operations
import Pipeline
import WorkerConfiguration

/// `remint rotate revoke`.
struct RotateRevoke: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes a compromised key at once, and re-issues its tokens. A revocation cannot be aborted.",
        discussion: .help(
            """
            The revoked version stops signing at once. The command begins a campaign of a special kind. It has no
            publish window, no canary, no watch, no pause because of rejections, and no abort. The campaign replaces an
            open campaign that the version is part of, in any phase. An open campaign of two other versions continues:
            the command only revokes the version, and prints how to re-issue its tokens.

            The first of these versions that exists signs instead:

              - the version of --promote
              - the version that already signs
              - the other version of the open campaign
              - the only prepared version
              - the only passive version, if no version is prepared

            If several versions could sign, none signs until you name one: events wait in the retry tiers, and the
            command lists the versions. The command refuses a successor with the compromised key.

            The command re-issues the tokens of every revoked version of the ring. The exit code is 0 when the ledger
            shows no live token of these versions. In addition, no other version in use, in any ring, may have one of
            their keys. Otherwise the exit code is 1. Then the command prints the number of remaining tokens with the
            reasons, or the commands that revoke the other versions.

            You can run the command again at any time, with --key-version. Without --key-version, it refuses a version
            that is already revoked.
            """,
            examples: """
                remint rotate revoke --config remint.yaml --key shop --reason "key leaked"
                remint rotate revoke --config remint.yaml --key shop --key-version 2026-11
                """))

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var pace: CampaignPaceOptions
    var brokers: String? { pace.brokers }
    // Not --version, which is the program's.
    @Option(
        name: .customLong("key-version"),
        help: "The compromised version. Default: the version that the campaign replaces, or the active version.")
    var version: String?
    @Option(help: "The version that signs instead.") var promote: String?
    @Option(help: "The reason, which the campaign's file and rotate status show.") var reason: String?
    @Flag(
        help: """
            Do not re-issue now. The exit code is 1 while live tokens are left or may appear, or their number is \
            unknown.
            """)
    var noReissue = false

    func run() async throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        let plan = try campaign.revocation(of: version, promoting: promote)
        do { try await revoke(plan, campaign, ring) } catch {
            // Both are reported: the tokens that are left, and the other versions with the key.
            if let other = Self.otherUse(of: plan.leaked, ring) {
                Terminal.error("remint: \(ring.ring.name): \(other)")
            }
            throw error
        }
        try ring.requireRevokedEverywhere()
    }

    private static func otherUse(of leaked: String, _ ring: RingInUse) -> (any Error)? {
        guard (try? ring.directory.readListing())?.state(of: leaked) == .revoked else { return nil }
        do { try ring.requireRevokedEverywhere(leaked) } catch { return error }
        return nil
    }

    private func revoke(_ plan: RevocationPlan, _ campaign: Campaign, _ ring: RingInUse) async throws {
        ring.warnOfHolders(of: plan.leaked)
        Terminal.error(
            "remint: \(ring.ring.name): a revocation cannot be aborted: once it is made, \(plan.leaked) does not sign again, and none of its tokens counts"
        )
        if let open = plan.open, open.kind == .rotation || open.from != plan.leaked {
            let fate = plan.successor == nil ? "no version signs, so nothing takes over from" : "it takes over from"
            Terminal.error(
                "remint: \(ring.ring.name): \(fate) the campaign \(open.id) from \(open.from) to \(open.to) (\(open.phase.rawValue))"
            )
        }
        if let successor = plan.candidates.first(where: { $0.id == plan.successor }) {
            Terminal.error(
                "remint: \(ring.ring.name): \(successor.id), which is \(successor.state.rawValue), signs from now on; see that the vendor has its key"
            )
        } else if plan.successor == nil {
            Terminal.error(
                "remint: \(ring.ring.name): no version signs afterwards, and events wait in the retry tiers; \(plan.remedy)"
            )
        }
        let rotation = try await revoke(plan, campaign)
        Terminal.print("\(ring.ring.name): \(plan.leaked) is revoked")
        ring.warnOfDamagedKeys()
        if let beside = plan.beside { return try await report(plan, beside, ring) }
        guard let rotation else {
            // An app may leave its vendor: then nobody needs a successor.
            guard !noReissue else { return try await ring.requireNoLeak(of: plan.leaked, instead: pace.brokers) }
            return try await refuseWithoutSuccessor(plan, ring)
        }
        Terminal.print("\(ring.ring.name): \(rotation.to) signs; the campaign is \(rotation.id)")
        if let open = plan.open, open.from != plan.leaked, open.from != rotation.to,
            try ring.directory.readListing().state(of: open.from) != .revoked
        {
            Terminal.error(
                "remint: \(ring.ring.name): tokens of \(open.from) are not asked for any more; afterwards: \(ring.reissueCommand(of: open.from))"
            )
        }
        guard !noReissue else {
            return try await ring.requireNoLeak(
                of: plan.leaked, instead: pace.brokers, next: RemintCommand("rotate reissue"))
        }
        try await pace.reissue(for: campaign)
    }

    /// Revokes the version. If that fails, it prints whether the version still signs, and the tokens that are left,
    /// before it throws.
    private func revoke(_ plan: RevocationPlan, _ campaign: Campaign) async throws -> Rotation? {
        do { return try campaign.revoke(plan, why: reason) } catch {
            let ring = campaign.ring
            if (try? ring.directory.readListing())?.state(of: plan.leaked) == .revoked {
                let left = await ring.leak(of: plan.leaked, instead: pace.brokers).sentence
                Terminal.error("remint: \(ring.ring.name): \(plan.leaked) is revoked; \(left)")
            } else if error is KeyRingError {
                let successor = promote.map { ["--promote", $0] } ?? []
                await ring.warnOfUse(
                    of: plan.leaked, instead: pace.brokers,
                    next: RemintCommand("rotate revoke", arguments: ["--key-version", plan.leaked] + successor))
            }
            throw error
        }
    }

    /// Reports that the open campaign continues, and names the job that asks for the users of the compromised version.
    private func report(_ plan: RevocationPlan, _ beside: Rotation, _ ring: RingInUse) async throws {
        Terminal.print(
            "\(ring.ring.name): the campaign \(beside.id) from \(beside.from) to \(beside.to) goes on (\(beside.phase.rawValue))"
        )
        let reissue = ring.reissueCommand(of: plan.leaked)
        let reading: FinalReading
        do { reading = try await ring.finalReading(of: plan.leaked, instead: pace.brokers) } catch {
            Terminal.error(
                "remint: \(ring.ring.name): an unknown number of live tokens of \(plan.leaked) is left in the ledger; ask for new ones: \(reissue)"
            )
            throw error
        }
        let holdings = reading.holdings
        guard !reading.isOver else {
            return Terminal.print("\(ring.ring.name): the ledger shows 0 live tokens of \(plan.leaked)")
        }
        let living = [holdings.first] + holdings.otherLiving
        let commands = living.map { ring.reissueCommand(of: $0.version) }.joined(separator: ", and: ")
        let remedy = holdings.hidden.map { "; \($0.remedy)" } ?? ""
        let reasons = holdings.reasons.isEmpty ? "" : " (\(holdings.reasons))"
        throw RotationError(
            "\(holdings.left), and revoked\(reasons)\(reading.events); ask for new ones now: \(commands)\(remedy)"
        )
    }

    /// Refuses a revocation without a successor: nothing would sign, so no user could get a new token.
    private func refuseWithoutSuccessor(_ plan: RevocationPlan, _ ring: RingInUse) async throws {
        let left: String
        do { left = try await ring.holdings(of: plan.leaked, instead: pace.brokers).left } catch {
            left = "an unknown number of live tokens of \(plan.leaked) is left"
        }
        throw RotationError(
            "no version signs, and \(left); \(plan.remedy)"
        )
    }
}
