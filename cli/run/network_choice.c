/*
 * Without this choice sshd of an ordinary user's pods fails to bind port 22, and Open MPI fills the
 * log with what follows from it.
 */
#include "cli/run/network_choice.h"

#include <unistd.h>

#include "base/mem.h"
#include "cli/preflight/network_need.h"
#include "cli/run/internal.h"

static void print(const struct network_choice *choice, const char *severity, const char *text)
{
    struct error finding = {0};

    error_set(&finding, ERR_INVALID, choice->why.field, "%s: %s", choice->why.message, text);
    manifest_print(choice->manifest, severity, &finding);
}

bool network_choose(struct session_options *options, const struct manifests *set,
                    struct network_choice *out)
{
    enum network_need need;

    *out = (struct network_choice){0};
    if (session_simulated(options))
        return true;
    need = preflight_network_need(set, options->isolation, &out->manifest, &out->why);
    if (need == NETWORK_NONE_HELPS) {
        print(out, "error", "run it as a user with a login shell, or where pods have sandboxes");
        return false;
    }
    if (need == NETWORK_ANY || options->network) {
        out->manifest = NULL;
        return true;
    }
    out->required = need == NETWORK_OWN;
    options->network = "private";
    return true;
}

void network_choice_note(const struct network_choice *choice)
{
    print(choice, "note",
          choice->required
              ? "pods get a network of their own (--network private), where they reach one another "
                "and nothing else; with --network shared they stay in that of this machine, and "
                "sshd needs a higher port, as in examples/mpi-plain.yaml"
              : "pods get a network of their own (--network private), where they reach one another "
                "and nothing else; with --network shared they stay in that of this machine");
}

bool network_choice_yield(struct session_options *options, struct network_choice *choice,
                          const struct error *err)
{
    scoped_str refusal =
        mem_printf("%s; write a higher port and start sshd on it, as "
                   "examples/mpi-plain.yaml does, or run it %s",
                   err->message, geteuid() ? "as root" : "where pods have sandboxes");
    scoped_str warning = mem_printf("%s: their ports may collide", err->message);

    print(choice, choice->required ? "error" : "warning", choice->required ? refusal : warning);
    choice->manifest = NULL;
    options->network = NULL;
    return !choice->required;
}
