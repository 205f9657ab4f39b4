import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { ADMIN_OPTIONS, adminClient } from "./admin.ts";
import { readInput } from "./files.ts";
import { plain } from "./text.ts";

const REFUSED = 1;
const NO_ANSWER = 2;

/** A running node of an older issuer is entered. @see spec/10-protocol.md section 5 */
export const adopt: Command = {
  name: "adopt",
  operands: "DEVICE",
  summary: "enter a running node with the certificates that it holds",
  details: [
    "Makes a running node's LDevID and LAK certificates the recorded identity of an active device, so that the node",
    "can renew. They must be of a trusted issuer (FLEET_CA_BUNDLE_FILE may hold older ones), name the device, its",
    "chassis serial and its approved EKs, and carry the policies of keys that were proven to live in a TPM. A node that",
    "fleetd did not install counts as installed with the class that NetBox names now. It proves itself at its next",
    "renewal, and is listed for SPIRE then.",
    "With --json: the answer, or the problem document, as fleetd sent it.",
  ].join("\n"),
  options: {
    certificates: {
      type: "string",
      placeholder: "FILE",
      help: "PEM of both, in any order; issuers in it are left out",
    },
    ...ADMIN_OPTIONS,
    json: JSON_OPTION,
  },
  exitCodes: {
    0: "adopted, or it was already",
    [REFUSED]: "refused",
    [NO_ANSWER]: "no answer, or the file cannot be read",
  },
  async run(args, io) {
    const [device, ...more] = args.files;
    if (device === undefined || more.length > 0) throw new UsageError("one device");
    const file = args.value("certificates");
    if (file === undefined) throw new UsageError("--certificates FILE is needed");
    const client = adminClient(args, io);
    const bytes = await readInput(file);
    if (typeof bytes === "string") {
      io.err(`fleetctl adopt: ${plain(file)}: ${bytes}`);
      return NO_ANSWER;
    }
    const certificates = new TextDecoder().decode(bytes);
    const answer = await client.ask(`/devices/${encodeURIComponent(device)}/adopt`, { certificates });
    if (typeof answer === "string") {
      io.err(`fleetctl adopt: ${plain(answer)}`);
      return NO_ANSWER;
    }
    const { status, body } = answer;
    if (args.flag("json")) io.out(JSON.stringify(body));
    if (status !== 200) {
      if (!args.flag("json")) io.err(`fleetctl adopt: ${plain(`${String(body.code)}: ${String(body.detail)}`)}`);
      return status >= 500 ? NO_ANSWER : REFUSED;
    }
    if (!args.flag("json"))
      io.out(plain(`${device} is adopted: judged by class ${String(body.class)} at its next renewal`));
    return 0;
  },
};
