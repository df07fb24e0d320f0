import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate`: a key's replacement as a campaign.
struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replaces a key: prepare, promote, re-issue, retire.",
        discussion: .help(
            """
            The replacement of a key is a campaign. The campaign's file, checkpoint, events and audit lines contain its
            id. The state of the campaign is in the ring's folder, so you can repeat every step after a crash, and the
            step continues. Each step uses the states in the ring. The command refuses a step if these states disagree
            with the campaign.

              remint rotate prepare    adds a new version, which you give to the vendor
              remint rotate promote    makes it sign, after publish_window
              remint rotate reissue    re-issues the users' tokens, a canary first
              remint rotate retire     retires the old version, if no live token is left

            The step promote proves that the workers sign with the new version. A passed canary proves that its users'
            tokens were published, and that the vendor rejected no more of them than --max-rejections. The step reissue
            proves that the ledger shows no old token that re-issuing could replace. The step retire proves that the
            ledger shows no live token of the old version. The ledger cannot show which token a device still holds.
            """,
            examples: """
                remint rotate prepare --config remint.yaml --key shop
                remint rotate status --config remint.yaml --key shop
                """),
        subcommands: [
            RotatePrepare.self, RotatePromote.self, RotateReissue.self, RotateStatus.self, RotatePause.self,
            RotateResume.self, RotateAbort.self, RotateRetire.self, RotateRevoke.self,
        ])
}

/// `remint rotate prepare`.
struct RotatePrepare: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare", abstract: "Adds a new version to the ring, and prints the steps to do at the vendor.",
        discussion: .help(
            """
            The command generates a key. With --key-version, it uses a version in the ring: a prepared one, for example
            an imported key, or a passive one. A passive version signed before, and the campaign returns to it.
            """,
            examples: """
                remint rotate prepare --config remint.yaml --key shop --reason yearly
                remint rotate prepare --config remint.yaml --key shop --key-version 2026-11
                """))

    @OptionGroup var ring: KeyRingOptions
    // Not --version, which is the program's.
    @Option(name: .customLong("key-version"), help: "A prepared or passive version to use instead of a new key.")
    var version: String?
    @Option(help: "The reason, which the campaign's file and rotate status show.") var reason: String?
    @OptionGroup var rsa: RSABitsOption

    func run() throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        // First the campaign, then the key: a crash in between leaves a campaign that knows which key it lacks.
        let rotation = try campaign.prepare(version, why: reason)
        try campaign.addMissingKey(of: rotation, rsaBits: rsa.bits)
        try tell(rotation, ring)
    }

    private func tell(_ rotation: Rotation, _ ring: RingInUse) throws {
        Terminal.print(
            "\(ring.ring.name): from \(rotation.from) to \(rotation.to): \(rotation.phase.rawValue) (campaign \(rotation.id))"
        )
        let loaded = try ring.directory.load(name: ring.ring.name)
        if let key = loaded.versions.first(where: { $0.id == rotation.to })?.verificationKey {
            if let pem = try key.publicKeyPEM() {
                Terminal.print("\n" + pem)
            } else {
                let file = try ring.directory.readListing().version(rotation.to).file
                Terminal.print(
                    "its secret is in \(ring.directory.path)/\(file), as the vendor's dashboard writes it")
            }
        }
        let promotion = RemintCommand("rotate promote")
        guard try ring.directory.readListing().state(of: rotation.to) == .prepared else {
            // It signed before, so verifiers have it.
            return Terminal.print("Then: \(promotion)")
        }
        guard let handover = ring.handover else { return Terminal.print("Then: \(promotion)") }
        ring.printSteps("At \(ring.apps[0].adapter.vendor), before it may sign:", handover.beforePromotion)
        let window = DurationText.format(seconds: ring.publishWindow)
        Terminal.print("Then, in \(window) at the earliest: \(promotion)")
    }
}

/// `remint rotate promote`.
struct RotatePromote: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Makes the new version sign.",
        discussion: .help(
            """
            Without --now, the command refuses a version that has not been prepared for the app's publish_window. Use
            --now for vendors that know only one key at a time, and for emergencies. With --key-version, the version
            signs without a campaign, and the version that signed before becomes passive.
            """,
            examples: """
                remint rotate promote --config remint.yaml --key shop
                remint rotate promote --config remint.yaml --key shop --key-version 2026-12
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(name: .customLong("key-version"), help: "A version to make sign without a campaign.") var version: String?
    @Flag(help: "Promote at once, even before the publish window is over.") var now = false

    func run() throws {
        let ring = try ring.load()
        let named = version.map { ["--key-version", $0] } ?? []
        let next = RemintCommand("rotate promote", arguments: named + (now ? ["--now"] : []))
        if let version {
            let changed = try ring.reporting(next: next) { try ring.promote(version, isForced: now) }
            Terminal.print("\(ring.ring.name): \(version) \(changed ? "signs now" : "signs already")")
            guard changed else { return }
        } else {
            let rotation = try ring.reporting(next: next) { try Campaign(ring: ring).promote(isForced: now) }
            let old = rotation.kind == .revocation ? "is revoked" : "still verifies"
            Terminal.print("\(ring.ring.name): \(rotation.to) signs; \(rotation.from) \(old)")
        }
        ring.printSteps("At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterPromotion ?? [])
        if version == nil { Terminal.print("Then: \(RemintCommand("rotate reissue"))") }
    }
}

/// `remint rotate reissue`.
struct RotateReissue: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reissue", abstract: "Re-issues tokens for all users who hold a token of the old version.",
        discussion: .help(
            """
            The first users are the canary. It consists of users with a live token, from each app of the ring, because
            only a device that comes back reports a refusal. After the canary, the users whose tokens expire soonest
            come first.

            The canary is answered when the token topic has a token of the new version for each of its users. Then the
            command watches the canary, each app by itself. The campaign pauses if users of the canary get no token
            within --answer-within. It also pauses if too many of them (--max-rejections) have their tokens rejected, or
            report again after they got the new token. Then the command prints the number of these users and the reason,
            and exits with 1. --canary 0 drops a canary that the command would watch again.

            After all events, the command reads the ledger again. The campaign is reissued when the ledger shows no old
            token that re-issuing could replace. You can stop the command and run it again at any time. The command does
            not re-issue tokens that answer a challenge: these tokens expire by themselves.
            """,
            examples: """
                remint rotate reissue --config remint.yaml --key shop
                remint rotate reissue --config remint.yaml --key shop --canary 5 --rate 200
                """))

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var pace: CampaignPaceOptions
    var brokers: String? { pace.brokers }

    func run() async throws {
        let ring = try ring.load()
        try await pace.reissue(for: Campaign(ring: ring))
    }
}

/// `remint rotate pause`.
struct RotatePause: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses the campaign. A running reissue stops after its batch.",
        discussion: .help(
            examples: """
                remint rotate pause --config remint.yaml --key shop
                remint rotate pause --config remint.yaml --key shop --reason OPS-7
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "The reason, which rotate status shows.") var reason = "paused by an operator"

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).pause(because: reason)
        Terminal.print("\(ring.ring.name): paused")
    }
}

/// `remint rotate resume`.
struct RotateResume: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Ends the campaign's pause. Then run rotate reissue to continue.",
        discussion: .help(
            """
            If a canary did not pass, the next canary consists of other users. Only the outcomes of the new canary
            decide whether it passes.
            """,
            examples: """
                remint rotate resume --config remint.yaml --key shop
                remint rotate reissue --config remint.yaml --key shop
                """))

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).resume()
        Terminal.print("\(ring.ring.name): not paused; go on with: \(RemintCommand("rotate reissue"))")
    }
}

/// `remint rotate abort`.
struct RotateAbort: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort", abstract: "Returns to the old version. A revocation cannot be aborted.",
        discussion: .help(
            "Tokens of the new version stay valid as long as the vendor has its key.",
            examples: """
                remint rotate abort --config remint.yaml --key shop
                remint rotate status --config remint.yaml --key shop
                """))

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        let (rotation, hadSigned) = try ring.reporting(next: RemintCommand("rotate abort")) {
            try Campaign(ring: ring).abort()
        }
        Terminal.print("\(ring.ring.name): \(rotation.from) signs; \(rotation.to) does not")
        ring.warnOfDamagedKeys()
        ring.warnOfLeftKey(of: rotation.to)
        if hadSigned {
            Terminal.print(
                "Leave \(rotation.to) at the vendor until its tokens have expired: \(RemintCommand("rotate retire", "--key-version", rotation.to))"
            )
        }
    }
}

/// `remint rotate retire`.
struct RotateRetire: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Retires the old version, if no live token of it is left.",
        discussion: .help(
            """
            The command first waits until the workers have loaded the ring, and until the events of that moment have
            outcomes. Then it reads the whole token topic. It counts the live tokens that name the ring and the version,
            also those of apps that are no longer configured. It also counts the live tokens of the ring's revoked
            versions. It refuses to retire the version, and prints the numbers, in these cases:

              - a live token is left
              - a live token names no ring of the configuration
              - a record cannot be read, or is no token
              - an open transaction hides a part of the topic for more than 30 seconds
              - an event of that moment has no outcome

            A device may still hold a token that was replaced, because the ledger has only the newest token of each
            user. With --key-version, the command retires another passive version, which is part of no open campaign.
            """,
            examples: """
                remint rotate retire --config remint.yaml --key shop
                remint rotate retire --config remint.yaml --key shop --key-version 2026-11
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(name: .customLong("key-version"), help: "A version to retire that is part of no open campaign.")
    var version: String?
    @Flag(help: "Retire even if live tokens remain. The audit log records this option.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        if let version { return try await retire(version, ring) }
        let campaign = Campaign(ring: ring)
        let rotation = try campaign.derived()
        var check = rotation
        try check.retired()
        if !force {
            try ring.requireRevokedEverywhere()
            try await ring.requireNoLiveToken(
                of: try ring.withRevoked(rotation.from), instead: brokers, tolerating: clock.tolerance,
                next: RemintCommand("rotate retire"))
        }
        let next = RemintCommand("rotate retire", arguments: force ? ["--force"] : [])
        try ring.reporting(next: next) { try campaign.retire(rotation.id, isForced: force) }
        let state = rotation.kind == .revocation ? "revoked" : "retired"
        Terminal.print("\(ring.ring.name): \(rotation.from) is \(state); the campaign is over")
        ring.warnOfLeftKey(of: rotation.from)
        Terminal.print(ring.unknowable(of: rotation.from, replacedBy: rotation.to))
        ring.printSteps(
            "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
        if force { try ring.requireRevokedEverywhere() }
    }

    private func retire(_ version: String, _ ring: RingInUse) async throws {
        try ring.requireNoPart(of: [version], in: .retire)
        let next = RemintCommand("rotate retire", "--key-version", version)
        if !force {
            try await ring.requireNoLiveToken(
                of: [version], instead: brokers, tolerating: clock.tolerance, next: next)
        }
        let again = RemintCommand(
            "rotate retire", arguments: ["--key-version", version] + (force ? ["--force"] : []))
        let changed = try ring.reporting(next: again) { try ring.retire(version, isForced: force) }
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is retired" : "was retired already")")
        ring.warnOfLeftKey(of: version)
        guard changed else { return }
        ring.printSteps(
            "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
    }
}
