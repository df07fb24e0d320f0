import Keyring

/// The holders of tokens of the old version when the ledger was read for a canary.
struct HeldTokens {
    /// The ends of the topics before the ledger was read: a token that is not in `holders` lies behind them.
    let marks: TopicMarks
    /// The holders.
    let holders: [LedgerHolder]
    /// The offsets that open transactions hid of the ledger; nil where it was read whole.
    let hidden: HiddenOffsets?
}
