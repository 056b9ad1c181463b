/*
 * The shim as a program of its own, which jobflow carries (node/exe/shim_image.c). It is started
 * for every node and forked for every sandboxed pod. A fork costs time for each mapped page, and
 * without the libraries of jobflow this program maps a tenth of them.
 */
#include "node/shim/entry.h"

int main(int argc, char **argv)
{
    int code = shim_main(argc, argv);

    return code < 0 ? 2 : code;
}
