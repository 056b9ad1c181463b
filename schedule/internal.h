#pragma once
/*
 * Names that events of this folder use as their source. They are those of Volcano.
 */
#define CRON_COMPONENT    "vc-controller-manager"
#define TRIGGER_COMPONENT "vc-controller-manager"
