/*
 * Loads libigraph with dlopen and looks up each function of IGRAPH_FUNCTIONS by its name.
 */
#include "view/graph/igraph_dlopen.h"

#include <dlfcn.h>
#include <stddef.h>

#define SONAME "libigraph.so.3"

/* Looks up the addresses of all functions; false when the library lacks one of them. */
static bool look_up(void *handle, struct igraph_library *out)
{
#define LOOK_UP(name)                                                                              \
    if (!(*(void **)&out->name = dlsym(handle, "igraph_" #name)))                                  \
        return false;
    IGRAPH_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return true;
}

const struct igraph_library *igraph_library_load(struct error *err)
{
    static struct igraph_library loaded;
    static bool is_loaded;
    void *handle;

    if (is_loaded)
        return &loaded;
    handle = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        error_set(err, ERR_UNAVAILABLE, "",
                  SONAME " cannot be loaded: is Debian's package libigraph3 installed?");
        return NULL;
    }
    if (!look_up(handle, &loaded)) {
        dlclose(handle);
        error_set(err, ERR_UNAVAILABLE, "", SONAME " is not the library of its header");
        return NULL;
    }
    loaded.set_error_handler(loaded.error_handler_ignore);
    loaded.set_warning_handler(loaded.warning_handler_ignore);
    is_loaded = true;
    return &loaded;
}
