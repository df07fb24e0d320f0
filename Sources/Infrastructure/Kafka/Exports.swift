// Whoever produces or consumes works with records and their places.
@_exported public import Records
