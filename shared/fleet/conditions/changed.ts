import { kind, reason } from "./_kind.ts";

/** What NetBox or git says otherwise than when a run began or a system was installed. */
export const changedConditions = {
  InventoryWentBack: kind("NetBox went back to an earlier state.", "warning", {
    "row-older": reason(
      "owner",
      "What it asks may have been taken back since, so no disk run follows from an earlier request.",
      "The owner sets the request again; shown for a day.",
    ),
  }),
  ChangedUnderRun: kind("The device was changed in NetBox while a run goes on.", "warning", {
    "class-changed": reason(
      "owner",
      "The run goes on with the class that it began with.",
      "The run ends; the next provision takes the new class.",
    ),
    "name-changed": reason(
      "owner",
      "The new name counts from the next provision.",
      "The run ends, or the name is changed back.",
    ),
    "disk-changed": reason(
      "owner",
      "The run goes on with the disk that it began with.",
      "The run ends, or the change is taken back.",
    ),
    "mac-changed": reason(
      "owner",
      "The run goes on with the MAC that it began with.",
      "The run ends, or the change is taken back.",
    ),
  }),
  InstalledClass: kind("The class is another than what was installed.", null, {
    "class-changed": reason(
      "owner",
      "The node is judged by the class that was installed.",
      "A new provision ends, or fleet_class is changed back.",
    ),
    "class-edited": reason(
      "owner",
      "FLEET_CLASSES holds another class of that name than the one that was installed.",
      "A new provision ends.",
    ),
  }),
};
