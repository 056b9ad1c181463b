#pragma once
/*
 * The rules of a pod's volumes and of the paths in them that a field table cannot say. Ref:
 * Kubernetes pkg/apis/core/validation ValidateVolumes; spec/reliability.md SEC-19.
 */
#include "api/types/admission.h"
#include "api/types/kinds/pod/pod.h"

/** A path that stays below where it starts: relative, no component is "..". */
bool path_descends(const char *path);

/** Check one volume, whose path is `path`: "spec.volumes[0]". */
void volume_check(const struct admission *adm, const struct pod_volume *volume, const char *path,
                  struct error_list *errors);

/** What is wrong with a mount path; NULL when nothing is. */
const char *mount_path_problem(const char *path);
