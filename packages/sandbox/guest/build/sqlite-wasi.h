/* What SQLite's unix VFS asks for and WASI does not have. It is included
   before SQLite itself.

   A guest is one process with one thread, and nobody else can open its files.
   Locks between processes are therefore granted always; SQLite itself keeps
   the connections of one process apart. */

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#define F_GETLK 5
#define F_SETLK 6

static int
wasi_fcntl(int descriptor, int command, ...)
{
    va_list rest;
    int result = 0;
    va_start(rest, command);
    if (command == F_GETLK) {
        va_arg(rest, struct flock *)->l_type = F_UNLCK;
    }
    else if (command != F_SETLK) {
        result = fcntl(descriptor, command, va_arg(rest, int));
    }
    va_end(rest);
    return result;
}

/* There are no owners and no permissions. */
static int wasi_fchmod(int descriptor, mode_t mode) { return 0; }
static int wasi_fchown(int descriptor, uid_t owner, gid_t group) { return 0; }

/* Anybody but root, whom SQLite would have change the owners of files. */
static uid_t wasi_geteuid(void) { return 1; }

#define fcntl wasi_fcntl
#define fchmod wasi_fchmod
#define fchown wasi_fchown
#define geteuid wasi_geteuid
