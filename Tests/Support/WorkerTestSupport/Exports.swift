// The tests of the worker and its parts wait for events, too.
@_exported public import AsyncTestSupport
