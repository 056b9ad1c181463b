#pragma once
/*
 * Steps with `approve` wait until a user approves or rejects them. The controller announces the wait,
 * ends it when its time is over, and carries out the answers, which come as Commands.
 *
 * A Command ApproveStep or RejectStep stays in the store until the status with its effect is stored.
 * After a crash in between it is handled once more and has no effect, because the step
 * waits no longer. Ref:
 * spec/everyday.md 7.2.
 */
#include <sys/queue.h>

#include "api/types/object.h"
#include "base/compiler.h"

struct flow;
struct flow_controller;

/* A Command that has been received, and not been handled or not been removed. */
struct flow_command {
    struct object *command;
    uint32_t changes; /* once it is handled: the value of model.changes with its effect */
    STAILQ_ENTRY(flow_command) next;
};
STAILQ_HEAD(flow_command_list, flow_command);

/** Asks for the approval of each step with `approve` whose turn has come, and starts the timer of its
 * timeout. */
void flow_approvals_ask(struct flow *flow);
/** Ends the wait for approval of all steps, because the flow ends. Steps that run at the end of the
 * flow (flow_step_is_final) go on waiting unless `finals` is set. */
void flow_approvals_withdraw(struct flow *flow, bool finals);
/** Stops the timer that limits how long a step waits for approval. */
void flow_approval_stop(struct flow *flow, uint32_t step);

/** Keeps a new Command to a JobFlow for flow_commands_run; any other object is ignored. */
void flow_command_arrived(struct flow_controller *controller, const struct object *command);
/** Carries out the Commands that have arrived. */
void flow_commands_run(struct flow_controller *controller);
/** Removes the Commands of the flow whose effect is stored. `all`: the others as well. */
void flow_commands_remove(struct flow *flow, bool all);
/** Forgets Commands without removing them. */
void flow_commands_drop(struct flow_command_list *list);
