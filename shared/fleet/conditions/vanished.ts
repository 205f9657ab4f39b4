import { kind, reason } from "./_kind.ts";

/** Devices that NetBox has no more: their records alone show these, so nothing is journaled. */
export const vanishedConditions = {
  Vanished: kind("A complete walk of NetBox came without the device.", null, {
    absent: reason(
      "fleetd",
      "One complete list came without it, and one short list closes nothing.",
      "The next complete walk shows it again; or it does not, and what fleetd made for it is deleted.",
    ),
  }),
  MassVanish: kind(
    "So many devices vanished from NetBox within a day that a filter, a role or a fault is likelier than the machines.",
    null,
    {
      "many-at-once": reason(
        "operator",
        "Nothing that fleetd made for this device is deleted.",
        "NetBox shows the device again; or, where it is really gone, an administrator runs fleetctl accept --vanished.",
      ),
    },
  ),
};
