/*
 * The bytes of the supervisor's program (shim/main.c), for those who carry it; see
 * runtime/shim_link.c.
 */
#include "node/exe/image.h"

/* clang-format off */
__asm__(".section .rodata.shim_image, \"a\"\n"
        ".balign 16\n"
        ".globl shim_image\n"
        "shim_image:\n"
        ".incbin \"" SHIM_IMAGE "\"\n"
        ".globl shim_image_end\n"
        "shim_image_end:\n"
        ".byte 0\n"
        ".previous\n");
/* clang-format on */
