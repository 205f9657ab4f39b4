import { stringify } from "yaml";
import { type Command, UsageError } from "./_command.ts";
import { ADMIN_OPTIONS } from "./admin.ts";
import { readClaims } from "./claims.ts";
import { plain } from "./text.ts";

const NOT_CLAIMED = 1;
const NO_ANSWER = 2;

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const SOURCE = /^(SCAN|SUPPLIER):\S.*$/;

/** The binding for a person's own record, once an independent digest and a claim agree. @see spec/60-operator.md */
export const approve: Command = {
  name: "approve",
  operands: "DEVICE",
  summary: "compare a digest from your own record with a claim, and print the binding",
  details: [
    "Compares the EK digests that you hold (a receiving scan, a supplier's record) with those that a machine claims for the",
    "device, and prints them as a nodes file, which fleetctl inventory apply takes as it is. It changes nothing: the claim never",
    "fills a digest in, and only what you write down approves a key. Give --ek once for each EK of the TPM.",
  ].join("\n"),
  options: {
    ek: {
      type: "string",
      multiple: true,
      placeholder: "DIGEST",
      help: "sha256:<64 hex>, from your record; repeatable",
    },
    source: { type: "string", placeholder: "SOURCE", help: "SCAN:<reference> or SUPPLIER:<reference>" },
    ...ADMIN_OPTIONS,
  },
  exitCodes: {
    0: "every digest is claimed for the device",
    [NOT_CLAIMED]: "no machine claims every digest for it",
    [NO_ANSWER]: "no answer, or a refusal",
  },
  async run(args, io) {
    const [device, ...more] = args.files;
    if (device === undefined || more.length > 0) throw new UsageError("one device");
    const digests = [...new Set(args.values("ek").map((one) => one.toLowerCase()))];
    if (digests.length === 0) throw new UsageError("--ek DIGEST from a record of your own is needed");
    const malformed = digests.find((one) => !DIGEST.test(one));
    if (malformed !== undefined) throw new UsageError(`--ek ${malformed}: is not sha256:<64 hex>`);
    const source = args.value("source");
    if (source === undefined || !SOURCE.test(source))
      throw new UsageError("--source is SCAN:<reference> or SUPPLIER:<reference>");
    const claims = await readClaims(args, io);
    if (typeof claims === "string") {
      io.err(`fleetctl approve: ${plain(claims)}`);
      return NO_ANSWER;
    }
    const own = claims.filter((claim) => claim.device === device);
    const fitting = own.find((claim) => digests.every((digest) => claim.eks.some((ek) => ek.digest === digest)));
    if (fitting === undefined) {
      io.err(`fleetctl approve: ${plain(own.length === 0 ? unclaimed(device) : disagreeing(device))}`);
      return NOT_CLAIMED;
    }
    const others = fitting.eks.filter((ek) => !digests.includes(ek.digest)).map((ek) => ek.digest);
    if (others.length > 0) io.err(`the machine also has ${others.join(", ")}: not named, so not approved`);
    const bindings = digests.map((digest) => ({ digest, source }));
    io.out("# a nodes file: for fleetctl inventory apply as it is, or to be copied into your own");
    // Some names are numbers or null to YAML, unless they are in quotes.
    io.out(`nodes:\n  ${stringify(device).trim()}:\n    approved_eks:`);
    for (const one of bindings) io.out(`      - digest: ${one.digest}\n        source: ${JSON.stringify(one.source)}`);
    io.out(`# or by hand, for the field approved_eks of ${device} in NetBox:\n# ${JSON.stringify(bindings)}`);
    return 0;
  },
};

function unclaimed(device: string): string {
  return `no machine claims to be ${device}: declare it in NetBox, then boot it into HookOS (again, if it was declared after that)`;
}

function disagreeing(device: string): string {
  return `no claim for ${device} shows every digest of your record: the machine there is another, or the record is wrong`;
}
