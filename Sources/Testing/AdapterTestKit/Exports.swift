// An adapter's tests use the conformance suite and the stubs together.
@_exported public import AdapterStubs
