import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { updateRecord } from "../../shared/engine/records.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { type Body, Node, post } from "../functions/renew/node.ts";
import { SoftwareNodeTpm } from "../functions/renew/node-tpm.ts";
import { RenewWorld } from "../functions/renew/world.ts";
import { aDevice } from "../scenarios/fixtures.ts";
import { CHANGES, type Changed, changesOf, type Row, rowName } from "./mutations.ts";

/** Changes that are no lie; asserted to be answered as if nothing was changed. */
const HARMLESS = {
  "ak-freshness": "tpm2_certify sets no nonce: the statement is of this key by this LAK, whose freshness it has",
  chain: "the leaf alone is compared with what is recorded: what follows it is the issuers', and read nowhere",
  "same-key": "a key that is the recorded LDevID's needs no certification: it was certified at enrolment",
} as const;

const bad = "bad-request";
const unknown = "identity-unknown";
const quote = "quote-invalid";
const certify = "certify-invalid";
const signature = "renewal-signature-invalid";
const harmless = (why: keyof typeof HARMLESS): string => `harmless: ${why}`;
const object = (anothers: string, earlier = "-"): Row => [bad, bad, bad, bad, "-", anothers, earlier];

// removed, null, another type, empty, one bit, another machine's value, this machine's of an earlier session
const BEGIN: Readonly<Record<string, Row>> = {
  ldevid: [bad, bad, bad, bad, harmless("chain"), unknown, "-"],
  lak: [bad, bad, bad, bad, harmless("chain"), unknown, "-"],
};

const EVIDENCE: Readonly<Record<string, Row>> = {
  session: [bad, bad, bad, "session-expired", "session-expired", "session-expired", "session-used"],
  quote: object(quote, quote),
  "quote.attest": [bad, bad, bad, quote, quote, quote, quote],
  "quote.signature": [bad, bad, bad, quote, quote, quote, quote],
  pcrs: [bad, bad, bad, quote, "-", quote, "-"],
  "pcrs.*": [quote, bad, bad, bad, quote, quote, "-"],
  eventLog: [bad, bad, bad, "event-log-missing", "event-log-mismatch", "event-log-mismatch", "-"],
  report: [bad, bad, bad, quote, quote, quote, "-"],
  ldevid: object(quote),
  "ldevid.public": [bad, bad, bad, bad, quote, quote, "-"],
  ldevidCertify: [certify, bad, bad, bad, "-", certify, harmless("ak-freshness")],
  "ldevidCertify.attest": [bad, bad, bad, certify, certify, certify, certify],
  "ldevidCertify.signature": [bad, bad, bad, certify, certify, certify, certify],
  signature: [bad, bad, bad, signature, signature, signature, signature],
};

interface Renewing {
  readonly world: RenewWorld;
  readonly node: Node;
  readonly tpm: SoftwareNodeTpm;
  readonly record: DeviceRecord;
}

async function renewing(): Promise<Renewing> {
  const tpm = await SoftwareNodeTpm.open();
  const world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest) });
  const node = await Node.installed(tpm, world);
  return { tpm, world, node, record: await world.record() };
}

let mine: Renewing;
let another: Renewing;
beforeAll(async () => {
  [mine, another] = [await renewing(), await renewing()];
});
afterAll(async () => {
  for (const { world, tpm } of [mine, another]) {
    await world.close();
    await tpm.close();
  }
});

async function walk(
  step: string,
  table: Readonly<Record<string, Row>>,
  request: () => Promise<readonly Changed[]>,
): Promise<void> {
  const used = new Set<string>();
  for (const { path, kind } of await request()) {
    await updateRecord(mine.world.deps.world, aDevice(), () => mine.record);
    const change = (await request()).find((one) => one.path === path && one.kind === kind);
    const row = table[rowName(path)];
    if (!change || !row) throw new Error(`${step}: field ${path} has no row`);
    used.add(rowName(path));
    const expected = row[CHANGES.indexOf(kind)] ?? "";
    const answer = await post(mine.world.admin, `/renew/v1/${step}`, change.body);
    const seen = answer.status === 200 ? "accepted" : String(answer.body.code);
    const what = `${step} ${path} ${kind}: ${answer.body.detail}`;
    expect(seen, what).toBe(expected.startsWith("harmless") ? "accepted" : expected);
    if (answer.status === 200) continue;
    expect([answer.body.ldevid, answer.body.lak, answer.body.session], what).toEqual([undefined, undefined, undefined]);
    // Of a refusal the record may keep the failing verdict, never an identity.
    const { identity, pendingIdentity, verdict } = await mine.world.record();
    expect({ identity, pendingIdentity }, what).toEqual({
      identity: mine.record.identity,
      pendingIdentity: mine.record.pendingIdentity,
    });
    if (verdict?.atMs !== mine.record.verdict?.atMs) expect(verdict?.result, what).toBe("fail");
  }
  expect([...used].sort()).toEqual(Object.keys(table).sort());
}

describe("each field of an accepted renewal, changed alone", () => {
  test("begin", async () => {
    const honest: Body = { ...mine.node.certificates };
    await walk("begin", BEGIN, async () =>
      changesOf(honest, { another: { ...another.node.certificates }, earlier: honest }),
    );
  });

  test("begin: a leaf of which any letter is another is another certificate, or none", async () => {
    const { ldevid, lak } = mine.node.certificates;
    const end = ldevid.indexOf("-----END");
    for (let at = ldevid.indexOf("\n") + 1; at < end; at += 17) {
      if (!/[A-Za-z0-9+/]/.test(ldevid[at] ?? "")) continue;
      const changed = `${ldevid.slice(0, at)}${ldevid[at] === "A" ? "B" : "A"}${ldevid.slice(at + 1)}`;
      const answer = await mine.node.begin({ ldevid: changed, lak });
      expect(["bad-request", "identity-unknown"], `letter ${at}: ${answer.body.detail}`).toContain(answer.body.code);
    }
    expect((await mine.node.begin({ ldevid: lak, lak: ldevid })).body.code).toBe("identity-unknown");
  });

  test("evidence, for a new key", { timeout: 60_000 }, async () => {
    const [fresh, others] = [await mine.tpm.create("ldevid"), await another.tpm.create("ldevid")];
    await another.node.boot("foreign", "fleet_stage=os other");
    const body = async ({ node }: Renewing, key: typeof fresh): Promise<Body> => node.request(await node.begun(), key);
    const earlier = await body(mine, fresh);
    expect((await mine.node.evidence(earlier)).status).toBe(200);
    await updateRecord(mine.world.deps.world, aDevice(), () => mine.record);
    const strange = await body(another, others);
    await walk("evidence", EVIDENCE, async () => changesOf(await body(mine, fresh), { another: strange, earlier }));
  });

  test("evidence, for the key that is recorded: its certification may be away", async () => {
    await updateRecord(mine.world.deps.world, aDevice(), () => mine.record);
    const bare = await mine.node.request(await mine.node.begun(), mine.node.ldevid, { uncertified: true });
    expect((await mine.node.evidence(bare)).status, HARMLESS["same-key"]).toBe(200);
  });
});
