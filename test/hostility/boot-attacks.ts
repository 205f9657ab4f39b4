import { encode } from "../../shared/formats/codec.ts";
import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { STARTUP_LOCALITY, startupLocality } from "../../shared/formats/eventlog/events/startup-locality.ts";
import { authority, separator } from "../shared/attest/log-builder.ts";
import { type Attack, about, behind, db, good, instead, LAB_AUTHORITY, owned, STRANGER, text } from "./attack.ts";
import { bothStages, firmware, LAB } from "./evidence.ts";
import { hashOf } from "./logs.ts";

const one = Uint8Array.of(1);
const none = new Uint8Array(0);
const error = { ...separator, data: Uint8Array.of(1, 0, 0, 0) };
const locality = (pcr: number, value: 0 | 3 | 4) => ({
  pcr,
  type: EV.EV_NO_ACTION,
  data: encode(STARTUP_LOCALITY, startupLocality(value)),
});
const action = (words: string, pcr = 7) => ({ pcr, type: EV.EV_EFI_ACTION, data: text(words) });
const stranger = about("authority", "db", "database", owned(STRANGER.der));
const trusting = db(LAB.der, STRANGER.der);

const PCR7 = "secure-boot-mismatch";
const MISMATCH = "event-log-mismatch";
const FOREIGN = "authority-not-accepted";

/** What firmware, shim or the running system measured or logged, and the one answer that it gets. */
export const BOOT_ATTACKS: Readonly<Record<string, readonly [Attack, string]>> = {
  "nothing hostile": [{}, "accepted"],

  // Separators of PCR 7.
  "no separator": [{ boot: instead("separator") }, `${PCR7} ${FOREIGN}`],
  "the separator behind the authority": [{ boot: [...instead("separator"), separator] }, FOREIGN],
  "two separators": [{ boot: behind("separator", separator) }, PCR7],
  "a second separator at the end": [{ boot: [...good, separator] }, PCR7],
  "a separator of the error value": [{ boot: instead("separator", error) }, PCR7],
  "a separator of Windows' value": [
    { boot: instead("separator", { ...separator, data: new Uint8Array(4).fill(255) }) },
    PCR7,
  ],
  "a separator of five bytes": [
    { boot: instead("separator", { ...separator, data: new Uint8Array(5) }) },
    `${PCR7} ${FOREIGN}`,
  ],
  "a separator that logs the normal value over the digest of the error value": [
    { boot: instead("separator", { ...separator, hashed: error.data }) },
    `${MISMATCH} ${PCR7} ${FOREIGN}`,
  ],
  "the separator first of all": [{ boot: [separator, ...instead("separator")] }, `${PCR7} ${FOREIGN}`],

  // Variables.
  "SecureBoot twice": [{ boot: behind("SecureBoot", about("config", "SecureBoot", "global", one)) }, PCR7],
  "SecureBoot first off, then on": [
    { boot: instead("SecureBoot", ...[0, 1].map((v) => about("config", "SecureBoot", "global", Uint8Array.of(v)))) },
    PCR7,
  ],
  "SecureBoot of another GUID alone": [
    { boot: instead("SecureBoot", about("config", "SecureBoot", "other", one)) },
    PCR7,
  ],
  "SecureBoot of shim's GUID beside firmware's that is off": [
    {
      boot: instead(
        "SecureBoot",
        about("config", "SecureBoot", "global", Uint8Array.of(0)),
        about("config", "SecureBoot", "shim", one),
      ),
    },
    PCR7,
  ],
  "secureboot in lower case": [{ boot: instead("SecureBoot", about("config", "secureboot", "global", one)) }, PCR7],
  "SecureBoot with a NUL behind its name": [
    { boot: instead("SecureBoot", about("config", "SecureBoot\0", "global", one)) },
    PCR7,
  ],
  "SecureBoot behind the separator": [
    { boot: behind("separator", about("config", "SecureBoot", "global", one)) },
    PCR7,
  ],
  "SecureBoot only behind the separator": [
    {
      boot: instead("SecureBoot").flatMap((r) =>
        r === separator ? [r, about("config", "SecureBoot", "global", one)] : [r],
      ),
    },
    PCR7,
  ],
  "SecureBoot of two bytes": [
    { boot: instead("SecureBoot", about("config", "SecureBoot", "global", Uint8Array.of(1, 0))) },
    PCR7,
  ],
  "SecureBoot of value 2": [
    { boot: instead("SecureBoot", about("config", "SecureBoot", "global", Uint8Array.of(2))) },
    PCR7,
  ],
  "SecureBoot logged as on over the digest of off": [
    {
      boot: instead("SecureBoot", {
        ...about("config", "SecureBoot", "global", one),
        hashed: about("config", "SecureBoot", "global", Uint8Array.of(0)).data,
      }),
    },
    `${MISMATCH} ${PCR7}`,
  ],
  "db of another GUID": [{ boot: instead("db", about("config", "db", "global", db(LAB.der))) }, `${PCR7} ${FOREIGN}`],
  "a driver's configuration behind the separator": [
    { boot: behind("separator", about("config", "dbt", "database", none)) },
    PCR7,
  ],
  "a db that is no signature list": [
    { boot: instead("db", about("config", "db", "database", one)) },
    `${PCR7} ${FOREIGN}`,
  ],

  // Authorities.
  "a stranger's authority beside the accepted one": [
    { boot: [...instead("db", about("config", "db", "database", trusting)), stranger] },
    FOREIGN,
  ],
  "the accepted authority logged over the digest of the stranger's": [
    {
      boot: instead("authority db", { ...about("authority", "db", "database", LAB_AUTHORITY), hashed: stranger.data }),
    },
    `${MISMATCH} ${FOREIGN}`,
  ],
  "db's authority that the measured db has not": [
    { boot: instead("db", about("config", "db", "database", db(STRANGER.der))) },
    FOREIGN,
  ],
  "an accepted authority in PCR 4 alone": [{ boot: instead("authority db", authority("db", LAB.der, 4)) }, FOREIGN],
  "a stranger's authority in PCR 4": [
    { boot: [...good, about("authority", "db", "database", owned(STRANGER.der), { pcr: 4 })] },
    FOREIGN,
  ],
  "an authority in PCR 15, which nothing else reads": [{ boot: [...good, authority("db", LAB.der, 15)] }, FOREIGN],
  "an authority by image hash": [
    { boot: [...good, about("authority", "db", "database", owned(new Uint8Array(32).fill(8)))] },
    FOREIGN,
  ],
  "a bare image hash of shim's": [
    { boot: [...good, about("authority", "MokList", "shim", new Uint8Array(32))] },
    FOREIGN,
  ],
  ...Object.fromEntries(
    [
      "Vendor_db",
      "vendor_db ",
      "vendor_db\0",
      "vendor-db",
      "vendor_dbx",
      "dB",
      "shim",
      "MokListX",
      "SbatLevelX",
      "",
    ].map((name) => [
      `a name that is nobody's: ${JSON.stringify(name)}`,
      [{ boot: [...good, about("authority", name, "shim", LAB.der)] }, FOREIGN] as const,
    ]),
  ),
  "SbatLevel of another GUID, which could hide anything": [
    { boot: [...good, about("authority", "SbatLevel", "database", STRANGER.der)] },
    FOREIGN,
  ],
  "a second SbatLevel at the end: the first is shim's": [
    { boot: [...good, about("authority", "SbatLevel", "shim", text("sbat,1,2099010100\n"))] },
    "accepted",
  ],
  "MokListTrusted of another GUID": [{ boot: [...good, about("authority", "MokListTrusted", "global", one)] }, FOREIGN],
  "an empty authority": [{ boot: [...good, about("authority", "db", "database", none)] }, FOREIGN],
  "a stranger's before the separator, where the profile lists who may be": [
    {
      boot: [...instead("db", about("config", "db", "database", trusting), stranger)],
      profile: bothStages({ beforeSeparator: [{ pem: LAB.pem }] }),
    },
    FOREIGN,
  ],
  "the same, hidden as a variable": [
    {
      boot: [
        ...instead("db", about("config", "db", "database", trusting), {
          ...stranger,
          type: EV.EV_EFI_VARIABLE_DRIVER_CONFIG,
        }),
      ],
      profile: bothStages({ beforeSeparator: [{ pem: LAB.pem }] }),
    },
    PCR7,
  ],

  // Shim's validation.
  "MokSBState is set": [{ boot: [...good, about("authority", "MokSBState", "shim", one)] }, "validation-off"],
  "MokSBState of another value and GUID": [
    { boot: [...good, about("authority", "MokSBState", "other", Uint8Array.of(0, 7))] },
    "validation-off",
  ],
  "MokSBState set before the separator": [
    { boot: behind("SecureBoot", about("authority", "MokSBState", "shim", one)) },
    "validation-off",
  ],
  "moksbstate in lower case": [{ boot: [...good, about("authority", "moksbstate", "shim", one)] }, FOREIGN],
  "MokSBState as a variable behind the separator": [
    { boot: [...good, about("config", "MokSBState", "shim", one)] },
    PCR7,
  ],
  "MokSBState in PCR 14 alone": [
    { boot: [...good, { pcr: 14, type: EV.EV_IPL, data: text("MokSBState\0"), hashed: one }] },
    "validation-off",
  ],
  "MokSBState in PCR 14 under any type": [
    { boot: [...good, { pcr: 14, type: EV.EV_POST_CODE, data: text("MokSBState"), hashed: one }] },
    "validation-off",
  ],

  // Actions.
  "debug mode": [{ boot: behind("dbx", action("UEFI Debug Mode")) }, PCR7],
  "debug mode with its NUL": [{ boot: behind("dbx", action("UEFI Debug Mode\0")) }, PCR7],
  "DMA protection off": [{ boot: behind("dbx", action("DMA Protection Disabled")) }, PCR7],
  "an action that nobody knows": [{ boot: behind("dbx", action("All Is Well")) }, PCR7],
  "an empty action": [{ boot: behind("dbx", action("")) }, PCR7],
  "debug mode where another action is allowed": [
    {
      boot: behind("dbx", action("UEFI Debug Mode")),
      profile: bothStages({ allowedActions: ["DMA Protection Disabled"] }),
    },
    PCR7,
  ],
  "debug mode in two NULs where it is allowed": [
    {
      boot: behind("dbx", action("UEFI Debug Mode\0\0")),
      profile: bothStages({ allowedActions: ["UEFI Debug Mode"] }),
    },
    PCR7,
  ],

  // PCR 0 and EV_NO_ACTION.
  "StartupLocality that PCR 0 does not start from": [{ boot: [locality(0, 3), ...good] }, MISMATCH],
  "StartupLocality of value 0": [{ boot: [locality(0, 0), ...good] }, "accepted"],
  "StartupLocality twice": [{ boot: [locality(0, 0), locality(0, 0), ...good] }, "event-log-malformed"],
  "StartupLocality behind the first measurement": [
    { boot: [firmware, locality(0, 0), ...good] },
    "event-log-malformed",
  ],
  "StartupLocality at the end": [{ boot: [...good, locality(0, 0)] }, "event-log-malformed"],
  ...Object.fromEntries(
    [1, 7, 16, 23].map((pcr) => [
      `StartupLocality of PCR ${pcr}`,
      [{ boot: [locality(pcr, 0), ...good] }, "event-log-malformed"] as const,
    ]),
  ),
  "StartupLocality of an unknown value": [
    { boot: [{ pcr: 0, type: EV.EV_NO_ACTION, data: Uint8Array.from([...text("StartupLocality\0"), 2]) }, ...good] },
    "event-log-malformed",
  ],
  "EV_NO_ACTION with a digest": [
    { boot: behind("dbx", { ...separator, type: EV.EV_NO_ACTION, digests: { sha256: hashOf("sha256", one) } }) },
    "accepted",
  ],
  "a stranger's authority logged as EV_NO_ACTION": [
    { boot: [...good, stranger], logged: [...good, { ...stranger, type: EV.EV_NO_ACTION }] },
    MISMATCH,
  ],
  "a measurement of PCR 7 that the log leaves out": [{ boot: [...good, stranger], logged: good }, MISMATCH],
  "a log of one measurement more": [
    { logged: [...good, about("authority", "db", "database", LAB_AUTHORITY)] },
    MISMATCH,
  ],
  "two measurements of PCR 7 in the other order": [
    { logged: [...good.slice(0, 2), ...good.slice(2, 4).reverse(), ...good.slice(4)] },
    MISMATCH,
  ],
};
