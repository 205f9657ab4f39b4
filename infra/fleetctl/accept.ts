import { z } from "zod";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { ADMIN_OPTIONS, adminClient } from "./admin.ts";
import { ask, NO_ANSWER, REFUSED, tell } from "./answer.ts";
import { shownDevice } from "./shown.ts";
import { plain } from "./text.ts";

const ofDevice = z.object({
  device: z.string(),
  what: z.string(),
  request: z.string(),
  by: z.string(),
  at: z.string(),
  new: z.boolean(),
});
const ofFleet = z.object({ devices: z.array(z.number()), by: z.string(), at: z.string(), new: z.boolean() });

const FLEET_WORDS = {
  vanished: (n: number) => `${n} vanished devices: what fleetd made for them is deleted by the next pass`,
  failures: (n: number) => `the failures of ${n} devices: the workers among them are quarantined by the next pass`,
} as const;

function acceptedText(isNew: boolean, by: string, at: string, what: string): string {
  return isNew ? `accepted: ${what}` : `accepted already, by ${by}, ${at}: ${what}`;
}

/** What waits for a person's word. @see spec/30-reconcile.md "Requests" */
export const accept: Command = {
  name: "accept",
  operands: "DEVICE | --vanished | --failures",
  summary: "confirm what fleetd holds back: a held request, devices that vanished or failed at once",
  details: [
    "DEVICE: its one held request is carried out once. It is held because it may be an old one: a wipe or provision that is accepted",
    "writes to the disk. See fleetctl explain DEVICE before. Nothing that is asked later is accepted with it.",
    "--vanished: the devices that are missing from NetBox, too many at once to be believed, are really gone: what fleetd made for",
    "them is deleted. fleetctl devices lists them.",
    "--failures: the devices whose quotes missed their boot policy, too many at once to be believed, have really failed: workers are",
    "quarantined. If a bad profile was the cause, mend it instead.",
    "The word is kept with its time and who gave it: the client certificate's CN, or token. With --json: the answer as fleetd sent it.",
  ].join("\n"),
  options: {
    vanished: { type: "boolean", help: "the devices that vanished at once are really gone" },
    failures: { type: "boolean", help: "the devices that failed at once have really failed" },
    ...ADMIN_OPTIONS,
    json: JSON_OPTION,
  },
  exitCodes: {
    0: "accepted, or it was already",
    [REFUSED]: "refused: there is nothing to accept, or no such device",
    [NO_ANSWER]: "no answer",
  },
  async run(args, io) {
    const [name, ...more] = args.files;
    const fleet = (["vanished", "failures"] as const).filter((one) => args.flag(one));
    const [what] = fleet;
    if (more.length > 0 || fleet.length + (name === undefined ? 0 : 1) !== 1)
      throw new UsageError("one of DEVICE, --vanished and --failures");
    const about = { command: "accept", args, io };
    if (what !== undefined)
      return tell(
        about,
        "/accept",
        ofFleet,
        (word) => [acceptedText(word.new, word.by, word.at, FLEET_WORDS[what](word.devices.length))],
        { fleet: what },
      );
    const device = name ?? "";
    // What is held now is what the person means: another request that is held a moment later is not.
    const seen = await ask(adminClient(args, io), `/devices/${encodeURIComponent(device)}`, shownDevice);
    if (!seen.ok) {
      io.err(`fleetctl accept: ${plain(seen.why)}`);
      return seen.exitCode;
    }
    const held = seen.value.conditions.find((c) => c.type === "RequestHeld");
    return tell(
      about,
      "/accept",
      ofDevice,
      (word) => [
        acceptedText(word.new, word.by, word.at, `${word.what} of ${word.device}, once (request ${word.request})`),
      ],
      held === undefined ? { device } : { device, what: held.run },
    );
  },
};
