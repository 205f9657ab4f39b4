import { z } from "zod";
import { type Arguments, type Command, type Io, JSON_OPTION, UsageError } from "./_command.ts";
import { ADMIN_OPTIONS, adminClient } from "./admin.ts";
import { plain } from "./text.ts";

const NO_ANSWER = 2;

const claimSchema = z.object({
  serial: z.string(),
  uuid: z.string(),
  device: z.string().nullable(),
  code: z.string(),
  detail: z.string(),
  at: z.string(),
  peer: z.string(),
  contested: z.boolean(),
  eks: z.array(z.object({ digest: z.string(), says: z.string().nullable() })),
});
export type Claim = z.output<typeof claimSchema>;

/** The claims that fleetd keeps, or why there is no list of them. */
export async function readClaims(args: Arguments, io: Io): Promise<readonly Claim[] | string> {
  const answer = await adminClient(args, io).ask("/claims");
  if (typeof answer === "string") return answer;
  if (answer.status !== 200) return `${String(answer.body.code)}: ${String(answer.body.detail)}`;
  const read = z.object({ claims: z.array(claimSchema) }).safeParse(answer.body);
  return read.success ? read.data.claims : "an answer that is no list of claims";
}

/** What machines claim that fleetd does not know, or whose keys nobody approved. @see spec/60-operator.md */
export const claims: Command = {
  name: "claims",
  operands: "",
  summary: "show what unknown machines and keys claim",
  details: [
    "Lists the machines that asked for a session and got none: serial, UUID, EK digests and what their certificates say.",
    "A claim is never proof: whoever boots in the network can make one. Compare the digests with a receiving scan or the",
    "supplier's record, then see fleetctl approve. Two claims for a serial are shown as contested.",
    "With --json: the claims, one line each.",
  ].join("\n"),
  options: { ...ADMIN_OPTIONS, json: JSON_OPTION },
  exitCodes: { 0: "listed", [NO_ANSWER]: "no answer, or a refusal" },
  async run(args, io) {
    if (args.files.length > 0) throw new UsageError("no operand is taken");
    const found = await readClaims(args, io);
    if (typeof found === "string") {
      io.err(`fleetctl claims: ${plain(found)}`);
      return NO_ANSWER;
    }
    for (const claim of found) {
      if (args.flag("json")) io.out(JSON.stringify(claim));
      else for (const line of claimText(claim)) io.out(line);
    }
    if (found.length === 0 && !args.flag("json")) io.out("no claims");
    return 0;
  },
};

function claimText(claim: Claim): string[] {
  const whose = claim.device === null ? "no device of the fleet" : `device ${claim.device}`;
  return [
    plain(`serial ${claim.serial}, ${whose}${claim.contested ? ", CONTESTED: others claim this serial too" : ""}`),
    plain(`  ${claim.code}: ${claim.detail}`),
    plain(`  UUID ${claim.uuid}, from ${claim.peer}, ${claim.at}`),
    ...claim.eks.map(({ digest, says }) => plain(`  EK ${ekText(digest, says)}`)),
  ];
}

// What a certificate says begins with the digest of its key, which is the EK's own unless somebody mixed them up.
function ekText(digest: string, says: string | null): string {
  if (says === null) return `${digest}, no certificate`;
  return says.startsWith(digest) ? says : `${digest}: ${says}`;
}
