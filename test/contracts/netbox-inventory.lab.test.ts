import { afterAll, describe, expect, it } from "vitest";
import { type LabNetBox, startLabNetBox } from "../../infra/lab/netbox/lab-netbox.ts";
import { run, textFile } from "../infra/fleetctl/cli.ts";
import { netboxInventoryContract } from "./netbox-inventory.ts";
import { ownerOf } from "./netbox-owner.ts";

const adminToken = "nbt_adminadmin12.0123456789abcdef0123456789abcdef01234567";
const tokens = [{ token: adminToken, user: "admin", write: true }];
const running: LabNetBox[] = [];
const start = async (version: string) => {
  const lab = await startLabNetBox({ tokens, version });
  running.push(lab);
  return { url: lab.url, adminToken, role: "fleet-node" };
};
afterAll(() => Promise.all(running.map((lab) => lab.close())));

for (const version of ["4.7.3", "4.6.2"])
  describe(`the lab's NetBox ${version}`, () => netboxInventoryContract(() => start(version)));

describe("fleetctl inventory apply in trouble", () => {
  const nodes = "nodes:\n  w1: { serial: W1, site: lab, device_type: mini-800, address: 10.41.0.11/24 }\n";

  const more = "nodes:\n  w2: { serial: W2, site: lab, device_type: mini-800 }\n";

  it("a fault in between: what is told as done is done, and the next run does the rest", async () => {
    const { url } = await start("4.7.3");
    const env = { FLEETCTL_NETBOX_URL: url, FLEETCTL_NETBOX_TOKEN: adminToken };
    const args = ["inventory", "apply", textFile(nodes, "nodes.yaml"), "--apply"];
    await ownerOf(url, adminToken).must("POST", "/lab/faults", {
      mode: "lost-answer",
      method: "POST",
      path: "/api/ipam/",
    });
    const cut = await run(args, env);
    expect([cut.code, cut.err]).toEqual([
      2,
      expect.stringMatching(/netbox unavailable: POST \/api\/ipam\/ip-addresses\//),
    ]);
    expect(cut.out).toMatch(/done: w1: interface eth0/);
    await ownerOf(url, adminToken).must("POST", "/lab/faults", { mode: "down", method: "POST" });
    const { code, out } = await run(["inventory", "apply", textFile(more, "nodes.yaml"), "--apply", "--json"], env);
    expect([code, JSON.parse(out)]).toMatchObject([
      2,
      { done: [], applied: false, fault: expect.stringMatching(/netbox unavailable/) },
    ]);
    await ownerOf(url, adminToken).must("POST", "/lab/faults", { mode: "ok" });
    const rest = await run(args, env);
    expect([rest.code, rest.out]).toEqual([
      0,
      expect.stringMatching(/^1 node of the files\n {2}done: w1: primary address: /),
    ]);
  });

  it("a file that is none says so by line, and NetBox is not asked", async () => {
    const env = { FLEETCTL_NETBOX_URL: "http://127.0.0.1:1", FLEETCTL_NETBOX_TOKEN: "x" };
    const path = textFile("nodes:\n  w1:\n    serial: 1\n", "nodes.yaml");
    const { code, err } = await run(["inventory", "apply", path, "/nowhere/else.yaml"], env);
    expect(code).toBe(4);
    expect(err.split("\n")).toEqual([
      "fleetctl inventory apply: /nowhere/else.yaml: no such file",
      `fleetctl inventory apply: ${path}:3: node w1: serial: must be text: put it in quotes`,
    ]);
    expect((await run(["inventory", "apply"], env)).code).toBe(64);
    expect(await run(["inventory", "apply", path], { ...env, FLEET_NETBOX_ROLE: "" })).toMatchObject({
      code: 64,
      err: expect.stringMatching(/"" is no slug of a device role/),
    });
    for (const bytes of [Buffer.from("\ufeffnodes: {}", "utf16le"), Buffer.from("nodes: {}", "utf16le")]) {
      const other = textFile(bytes, "nodes.yaml");
      expect(await run(["inventory", "apply", other], env)).toEqual({
        code: 4,
        out: "",
        err: `fleetctl inventory apply: ${other}: is no text in UTF-8`,
      });
    }
    expect((await run(["inventory", "apply", textFile(nodes, "nodes.yaml")], env)).code).toBe(2);
  });
});
