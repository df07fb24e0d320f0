// The commit that the program was built from. Only a C file can get it: Swift has no definitions with values.
#ifndef REMINT_COMMIT_H
#define REMINT_COMMIT_H

/// Returns the commit in REMINT_COMMIT at the time of the build, or "unknown".
const char *remint_commit(void);

#endif
