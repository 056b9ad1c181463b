#pragma once
/*
 * The JobTemplate controller: status.jobDependsOnList. Ref: spec/jobflow.md 9.
 */
#include "api/cluster.h"

struct template_controller;
struct template_controller *template_controller_start(struct cluster *cluster);
void template_controller_stop(struct template_controller *controller);
