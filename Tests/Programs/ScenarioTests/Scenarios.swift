import Testing

// Whole stories, in four rows beside each other: a story mostly waits, for a broker, a lifetime, a back-off. Within a row one goes
// after the other, so that no more than four of them have programs running.

/// What a worker does with events, and what it costs.
@Suite(.serialized) enum Scenarios {}

/// What those who run workers do: commands, batch jobs, dead letters, pauses.
@Suite(.serialized) enum OperatorScenarios {}

/// Keys: made, guarded, held by a signer, believed by others.
@Suite(.serialized) enum KeyScenarios {}

/// Campaigns: rotations, canaries, revocations, and those who run them.
@Suite(.serialized) enum CampaignScenarios {}

/// Devices and vendors: what they report, pick up and answer.
@Suite(.serialized) enum DeviceScenarios {}
