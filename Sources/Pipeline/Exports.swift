// What comes in and goes out are records: their one layout comes along.
@_exported public import Records
