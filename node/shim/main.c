/*
 * The supervisor as a program of its own, which jobflow carries (image.c). It is started for every
 * node and forked for every pod, and a fork costs what is mapped: without the libraries of the rest
 * of jobflow that is a tenth.
 */
#include "node/shim/entry.h"

int main(int argc, char **argv)
{
    int code = shim_main(argc, argv);

    return code < 0 ? 2 : code;
}
