#pragma once
/*
 * Checks whether the gangs of a flow (spec.gangs) can ever start. The jobs of a gang start together
 * or not at all.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/error.h"
#include "cli/preflight/fit.h"

struct gangfit {
    const struct jobflow_spec *spec;
    /* [steps] resources that each step's job needs at once; 0: unknown. */
    const struct amount *needs;
    const struct fit *fit; /* the machine that the gang must fit */
};

/** Reports each gang of an admitted flow that can never start, with its field, figures and a
 * remedy. The estimate takes the gang's smallest minAvailable members. */
void gangfit_check(const struct gangfit *gangs,
                   void (*found)(void *ctx, const struct error *problem), void *ctx);
