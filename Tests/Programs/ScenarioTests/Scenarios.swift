// Nearly every scenario runs commands, so one line imports them for all files.
@_exported import CommandTestSupport
import Testing

// Whole stories, in rows beside each other: a story mostly waits, for a broker, a lifetime, a back-off. Within a row one goes
// after the other, so that only a few of them have programs running.

/// The worker's treatment of events, and its cost.
@Suite enum Scenarios {}

/// The operators' work: commands, batch jobs, dead letters, pauses.
@Suite enum OperatorScenarios {}

/// Commands that need their process, a broker or a worker: first configurations, connections, closed pipes.
@Suite enum CommandScenarios {}

/// Keys: guarded, held by a signer, rotated, leaked, believed by others.
@Suite enum KeyScenarios {}

/// Campaigns: rotations, canaries, revocations, and those who run them.
@Suite enum CampaignScenarios {}

/// Devices and vendors: what they report, look up and answer.
@Suite enum DeviceScenarios {}

/// The gateway where devices pick their tokens up.
@Suite enum GatewayScenarios {}

/// The clients of the gateway. They spend their time waiting for the gateway, so they run at the same time.
@Suite enum ClientScenarios {}
