// Every user of the server hands it a stub.
@_exported public import AdapterStubs
