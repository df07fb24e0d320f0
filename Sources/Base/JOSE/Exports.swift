// Whoever works with keys and tokens works with their texts and times.
@_exported public import Formats
