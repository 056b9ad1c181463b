#pragma once
/*
 * Requests about submitted jobs, sent to `jobflow serve`: the paths below /v1. They exist on no
 * other API server, so a client that reached another one is refused first.
 */
#include <jansson.h>

#include "cli/client/client.h"

/** Opens a client of a daemon. NULL with the error printed, and the exit code in `out_code`:
 * EXIT_REFUSED for a server that is not ours, EXIT_INTERNAL when none answers. */
struct client *submit_open(const struct client_endpoint *endpoint, int *out_code);

/**
 * Sends a POST and returns the body of the answer (owned) with its HTTP status, or NULL with `err`
 * when there was no answer.
 */
json_t *submit_post(struct client *client, const char *path, const json_t *body, int *out_status,
                    struct error *err);
/** Returns whether all words can be sent, because they are UTF-8. Otherwise the error was printed. */
bool submit_words_are_text(int n, char *const *words);

/** Checks the text of a flag that is sent: it must be UTF-8. */
bool submit_check_text(const char *text, struct error *err);

/** Prints the problems of an answer that is a refusal, with the fields as the server names them. */
void submit_print_problems(const json_t *answer);
