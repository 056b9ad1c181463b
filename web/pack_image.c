/*
 * The packed files of the page as bytes inside jobflow, from web_pack up to web_pack_end. assets.c
 * reads them; only programs that link this object carry them.
 */

/* clang-format off */
__asm__(".section .rodata.web_pack, \"a\"\n"
        ".balign 16\n"
        ".globl web_pack\n"
        "web_pack:\n"
        ".incbin \"" WEB_PACK "\"\n"
        ".globl web_pack_end\n"
        "web_pack_end:\n"
        ".byte 0\n"
        ".previous\n");
/* clang-format on */
