import Testing

// Whole stories, in three rows beside each other: a story mostly waits, for a broker, a lifetime, a back-off. Within a row one goes
// after the other, so that no more than three of them have programs running.

/// What a worker does with events, and what those who run it do with a worker.
@Suite(.serialized) enum Scenarios {}

/// Keys: made, guarded, rotated, held by a signer, believed by others.
@Suite(.serialized) enum KeyScenarios {}

/// Devices and vendors: what they report, pick up and answer.
@Suite(.serialized) enum DeviceScenarios {}
