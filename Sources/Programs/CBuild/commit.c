#include "commit.h"

#define TEXT(name) #name
#define VALUE(name) TEXT(name)

const char *remint_commit(void) {
#ifdef REMINT_COMMIT
    return VALUE(REMINT_COMMIT);
#else
    return "unknown";
#endif
}
