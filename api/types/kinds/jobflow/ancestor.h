#pragma once
/*
 * Who comes before whom in a flow under admission: a search backwards from one step along targets
 * and switches.
 */
#include "api/types/kinds/jobflow/control.h"

enum ancestor { ANCESTOR_FOUND, ANCESTOR_NOT_FOUND, ANCESTOR_TOO_FAR };

struct ancestor_search {
    struct control_check *c;
    uint32_t wanted; /* NAME_NONE: nobody in particular */
    uint32_t depth;
    bool through_probes; /* also along targets whose probes let a step start early */
    /** Told of everybody who is met, once; NULL: nobody. */
    void (*met)(struct ancestor_search *s, uint32_t step);
};

/** From one step back, past those who are marked, as far as `c->visits` allows. */
enum ancestor ancestors_go_back(struct ancestor_search *s, uint32_t from);
/** Answer what jobflow_check_ancestor has put off. */
void jobflow_check_far_ancestors(struct control_check *c);
