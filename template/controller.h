#pragma once
/*
 * The JobTemplate controller: status.jobDependsOnList, the names of the jobs made from a template.
 * Ref: spec/jobflow.md 9.
 */
#include "api/cluster.h"

struct template_controller;
struct template_controller *template_controller_start(struct cluster *cluster);
/** Stops reacting at once. The controller is freed when its last write in flight is answered. */
void template_controller_stop(struct template_controller *controller); /* NULL is ignored */
