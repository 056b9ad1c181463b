#pragma once
/*
 * The supervisor as a program of its own, inside those programs that were linked with it: from
 * shim_image up to shim_image_end. Others are their own supervisor (the two are NULL).
 */
extern const char shim_image[] __attribute__((weak, visibility("hidden")));
extern const char shim_image_end[] __attribute__((weak, visibility("hidden")));
