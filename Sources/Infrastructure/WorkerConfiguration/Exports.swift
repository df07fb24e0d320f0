// A configuration's mistakes and durations are told in these words wherever it is read.
@_exported public import YAMLReading
