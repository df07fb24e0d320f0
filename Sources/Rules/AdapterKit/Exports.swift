// An adapter imports this module and nothing else of Remint: JSON, algorithms and verification keys are part of the
// contract's vocabulary, so they come along.
@_exported public import JOSE
