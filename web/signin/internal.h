#pragma once
/*
 * What signin.c, which makes and ends sign-ins, shares with signin_file.c, which keeps them.
 */
#include <openssl/sha.h>

#include "web/signin/signin.h"

enum { TICKETS_MAX = 16, TRIES_BUCKETS = 64 };

typedef unsigned char digest[SHA256_DIGEST_LENGTH];

enum ticket_state { TICKET_FREE, TICKET_GOOD, TICKET_USED };

struct ticket {
    enum ticket_state state;
    digest secret;
    int64_t made_ns, ends_ns; /* monotonic; of a used ticket, `ends_ns` is the time of its use */
    uint64_t signin;          /* the sign-in that it made; SIGNIN_NONE: none */
    char *credential;         /* that of the sign-in which it makes */
};

struct signin {
    uint64_t number; /* SIGNIN_NONE: free */
    digest cookie, key;
    int64_t made_ns, used_ns;
    char *credential; /* what it was made with; "" for a gateway with one user */
};

/* Tries to sign in of the peers that hash to the bucket. */
struct tries {
    int64_t window_ns; /* beginning of the second in which they are counted */
    int count;
};

struct signins {
    struct signins_options options;
    char id[SIGNIN_ID_TEXT + 1];
    struct ticket tickets[TICKETS_MAX];
    struct signin items[SIGNINS_MAX];
    uint64_t made;
    struct timer over; /* ends sign-ins whose time is over, although no request comes */
    struct tries tries[TRIES_BUCKETS];
    int64_t saved_ns;   /* time at which the file was written */
    int64_t failure_ns; /* time at which a failure was logged; 0: never */
};

/** Reads the sign-ins of the file, those that are over left out. A file that is missing or damaged
 * has none. */
void signins_load(struct signins *signins);
/** Writes the sign-ins to the file, if there is one. A failure is logged. */
void signins_save(struct signins *signins);
