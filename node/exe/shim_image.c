/*
 * The shim program (node/shim/main.c) as bytes inside jobflow, from shim_image up to
 * shim_image_end. self_exe.c runs it; only programs that link this object carry it.
 */

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
