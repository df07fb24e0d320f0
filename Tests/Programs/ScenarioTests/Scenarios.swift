import Testing

// Whole stories, in rows beside each other: a story mostly waits, for a broker, a lifetime, a back-off. Within a row one goes
// after the other, so that only a few of them have programs running.

/// The worker's treatment of events, and its cost.
@Suite(.serialized) enum Scenarios {}

/// The operators' work: commands, batch jobs, dead letters, pauses.
@Suite(.serialized) enum OperatorScenarios {}

/// Keys: made, guarded, held by a signer, believed by others.
@Suite(.serialized) enum KeyScenarios {}

/// Campaigns: rotations, canaries, revocations, and those who run them.
@Suite(.serialized) enum CampaignScenarios {}

/// Devices and vendors: what they report, pick up and answer.
@Suite(.serialized) enum DeviceScenarios {}

/// The clients of the gateway. They spend their time waiting for the gateway, so they run at the same time.
@Suite enum ClientScenarios {}
