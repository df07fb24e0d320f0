import Testing

/// Whole stories, one at a time: each runs programs that use every core, and waits for them.
@Suite(.serialized) enum Scenarios {}
