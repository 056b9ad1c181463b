#pragma once
/*
 * Why a server refuses a request with Forbidden. It does so for several reasons with one code, and
 * only the message tells them apart:
 *
 *   RESOURCE ["NAME"] is forbidden: REASON
 *
 * Only the beginning of the reason decides. Admission webhooks and policies put texts of users into
 * the rest, which must not look like another reason.
 */

enum denial {
    DENIAL_OTHER,
    DENIAL_QUOTA, /* a ResourceQuota is used up, not counted yet, or needs limits that are not set */
    DENIAL_CLOSING, /* the namespace is being removed */
    DENIAL_RIGHTS,  /* the user may not do that */
};

/** Returns why a message of a Forbidden refuses. */
enum denial denial_of(const char *message);
