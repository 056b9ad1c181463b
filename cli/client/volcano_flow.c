/*
 * The controller of this program counts the steps of each flow in its status. Volcano's does not.
 */
#include "cli/client/volcano_flow.h"

#include <stdio.h>

#include "api/types/text/doc.h"
#include "cli/command/command.h"

void volcano_flow_note(const json_t *flow)
{
    const char *phase = doc_text(flow, "status.state.phase");

    if (!phase || !*phase || doc_at(flow, "status.stepCounts"))
        return;
    fprintf(stderr,
            "note: Volcano's own controller has written the status of jf/%s; it does not act on "
            "this, '%s controller' does\n",
            doc_text(flow, "metadata.name"), cli_program);
}
