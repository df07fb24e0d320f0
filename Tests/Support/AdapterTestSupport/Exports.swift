// The tests of every adapter with look-ups use its stub.
@_exported public import AdapterStubs
