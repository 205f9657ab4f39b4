import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNetBox } from "../../shared/adapters/netbox/netbox.ts";
import { hookSignatureFits } from "../../shared/runtime/auth.ts";
import { run } from "../infra/fleetctl/cli.ts";
import { type Owner, ownerOf, type Row } from "./netbox-owner.ts";
import { startReceiver } from "./netbox-receiver.ts";

export interface BareNetBox {
  readonly url: string;
  readonly adminToken: string;
}

/** `fleetctl netbox setup` against a NetBox that has nothing of fleetd's; it leaves it set up. */
export function netboxSetupContract(bare: () => Promise<BareNetBox>): void {
  describe("fleetctl netbox setup", () => {
    let owner: Owner;
    let env: Record<string, string>;
    let url: string;
    const folder = mkdtempSync(join(tmpdir(), "fleetctl-setup-"));
    const secrets = join(folder, "secrets");
    const hook = "https://fleetd.example:8444/webhooks/netbox";
    const setup = (...more: string[]) =>
      run(["netbox", "setup", "--secrets", secrets, "--webhook-url", hook, ...more], env);
    const planned = async (...more: string[]) => {
      const { code, out } = await setup("--json", ...more);
      return {
        code,
        ...(JSON.parse(out) as { steps: { what: string; name: string }[]; refused: string[]; notes: string[] }),
      };
    };
    const rows = async (path: string) => (await owner.must("GET", `${path}?limit=1000`)).results as Row[];
    const contents = (file: string) => readFileSync(join(secrets, file), "utf8").trim();
    const theField = async (name: string) =>
      (await rows("/api/extras/custom-fields/")).find((row) => row.name === name);

    beforeAll(async () => {
      const netbox = await bare();
      url = netbox.url;
      owner = ownerOf(url, netbox.adminToken);
      const tokenFile = join(folder, "admin-token");
      writeFileSync(tokenFile, `${netbox.adminToken}\n`, { mode: 0o600 });
      env = { FLEETCTL_NETBOX_URL: url, FLEETCTL_NETBOX_TOKEN_FILE: tokenFile };
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it("shows its plan, and does nothing", async () => {
      const { code, out } = await setup();
      expect(code).toBe(3);
      expect(out).toContain("+ custom field approved_eks\n      json, of dcim.device");
      expect(out).toMatch(/Nothing was done: --apply does it\.$/);
      expect(await rows("/api/extras/custom-fields/")).toEqual([]);
      expect(() => statSync(secrets)).toThrow(/ENOENT/);
    });

    it("refuses a field of that name and another type, and then does nothing at all", async () => {
      const odd = await owner.must("POST", "/api/extras/custom-fields/", {
        name: "protected",
        type: "text",
        object_types: ["dcim.device"],
      });
      const { code, out } = await setup("--apply");
      expect(code).toBe(1);
      expect(out).toMatch(/refused: custom field protected is of type text, and fleetd needs boolean/);
      expect((await rows("/api/extras/custom-fields/")).map((row) => row.name)).toEqual(["protected"]);
      expect((await planned()).refused).toHaveLength(1);
      await owner.call("DELETE", `/api/extras/custom-fields/${odd.id}/`);
    });

    it("makes all, prints no secret, and writes both for their owner alone", async () => {
      const { code, out, err } = await setup("--apply");
      expect([code, err]).toEqual([0, ""]);
      const [token, secret] = [contents("netbox-token"), contents("webhook-secret")];
      expect(token).toMatch(/^nbt_[^.]+\.\S{20,}$/);
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      for (const text of [token, token.split(".")[1] ?? "", secret]) expect(out).not.toContain(text);
      for (const file of ["netbox-token", "webhook-secret"])
        expect(statSync(join(secrets, file)).mode & 0o777).toBe(0o600);
      const [webhook] = await rows("/api/extras/webhooks/");
      expect(webhook).toMatchObject({ payload_url: hook, secret, ssl_verification: true });
      const [rule] = await rows("/api/extras/event-rules/");
      expect(rule).toMatchObject({
        object_types: ["dcim.device"],
        conditions: { and: [{ attr: "role.slug", value: "fleet-node" }] },
        action_object_id: webhook?.id,
      });
    });

    it("plans nothing the second time", async () => {
      expect(await planned("--apply")).toMatchObject({ code: 0, steps: [], refused: [], notes: [] });
      expect((await setup()).out).toMatch(/Nothing to do\.$/);
    });

    it("made a token by which fleetd's adapter works, and which may not do more", async () => {
      const token = contents("netbox-token");
      const port = createNetBox({ url, token, role: "fleet-node", timeoutMs: 30_000 });
      expect(await port.devices()).toEqual([]);
      const fleetd = ownerOf(url, token);
      const may = async (method: string, path: string) => (await fleetd.call(method, path, {})).status;
      expect(await may("POST", "/api/dcim/devices/")).toBe(403);
      expect(await may("POST", "/api/extras/journal-entries/")).toBe(400);
      for (const path of ["/api/extras/webhooks/", "/api/users/users/"])
        expect((await fleetd.call("GET", path)).status).toBe(403);
      const tokens = (await fleetd.must("GET", "/api/users/tokens/")).results;
      expect(tokens).toEqual([expect.objectContaining({ key: token.slice(4).split(".")[0], token: null })]);
    });

    it("puts back what somebody changed, and tells no secret", async () => {
      const [webhook] = await rows("/api/extras/webhooks/");
      const path = `/api/extras/webhooks/${webhook?.id}/`;
      const own = contents("webhook-secret");
      const changes = [
        { secret: "a-secret-of-somebody" },
        {
          payload_url: "http://u:a-password@x.example/?key=a-key",
          additional_headers: "Authorization: Bearer a-bearer",
        },
      ];
      for (const change of changes) {
        await owner.must("PATCH", path, change);
        const { code, out } = await setup();
        expect(code).toBe(3);
        for (const text of ["a-secret", "a-password", "a-key", "a-bearer", own]) expect(out).not.toContain(text);
        expect(out).toContain(
          "secret" in change
            ? "secret: another one"
            : `payload_url: http://…@x.example/?… → ${hook}\n      additional_headers: another one`,
        );
        expect((await setup("--apply")).code).toBe(0);
      }
      expect((await planned()).steps).toEqual([]);
    });

    it("refuses a webhook of that name which has neither its URL nor its secret: it is another's", async () => {
      const [webhook] = await rows("/api/extras/webhooks/");
      const path = `/api/extras/webhooks/${webhook?.id}/`;
      await owner.must("PATCH", path, {
        payload_url: "https://u:a-password@x.example/",
        secret: "a-secret-of-somebody",
      });
      const { refused } = await planned("--apply");
      expect(refused).toEqual([
        expect.stringMatching(/^webhook fleetd goes to https:\/\/…@x\.example\/, and its secret/),
      ]);
      expect(await owner.must("GET", path)).toMatchObject({ secret: "a-secret-of-somebody" });
      await owner.must("PATCH", path, { payload_url: hook, secret: contents("webhook-secret") });
    });

    it("tells of rights that come on top: another permission of the same name, another account of its own", async () => {
      const [fleetd] = (await owner.must("GET", "/api/users/users/?username=fleetd")).results as Row[];
      const somebody = await owner.must("POST", "/api/users/users/", {
        username: "somebody",
        password: "Aa1!somebody-4711",
      });
      const [own] = (await rows("/api/users/permissions/")).filter((row) => row.name === "fleetd: devices");
      const twin = await owner.must("POST", "/api/users/permissions/", {
        ...{ name: "fleetd: devices", object_types: ["dcim.device"], actions: ["view", "delete"], users: [fleetd?.id] },
      });
      await owner.must("PATCH", `/api/users/permissions/${own?.id}/`, { users: [fleetd?.id, somebody.id] });
      const { steps, notes } = await planned();
      expect([steps, notes.toSorted()]).toEqual([
        [],
        [
          'permission "fleetd: devices" is user somebody\'s too; it is left so',
          `user fleetd also has permission "fleetd: devices" (${twin.id}), which fleetd does not need; it is left as it is`,
        ],
      ]);
      await owner.must("PATCH", `/api/users/permissions/${own?.id}/`, { users: [fleetd?.id] });
      await owner.call("DELETE", `/api/users/permissions/${twin.id}/`);
    });

    it("tells of a file that others may read", async () => {
      chmodSync(join(secrets, "webhook-secret"), 0o644);
      expect((await planned()).notes).toEqual([expect.stringMatching(/webhook-secret has mode 644: chmod 600 it/)]);
      chmodSync(join(secrets, "webhook-secret"), 0o600);
    });

    it("opens a field of somebody's to devices, and adds a choice to a set of its own name", async () => {
      const gateway = await theField("gateway");
      await owner.must("PATCH", `/api/extras/custom-fields/${gateway?.id}/`, { object_types: ["ipam.vlan"] });
      const [set] = (await rows("/api/extras/custom-field-choice-sets/")).filter(
        (row) => row.name === "fleet_desired_action",
      );
      const path = `/api/extras/custom-field-choice-sets/${set?.id}/`;
      await owner.must("PATCH", path, {
        extra_choices: [
          ["provision", "P"],
          ["attest", "A"],
          ["polish", "Polish"],
        ],
      });
      expect((await planned()).steps.map(({ what, name }) => `${what} ${name}`)).toEqual([
        "choice set fleet_desired_action",
        "custom field gateway",
      ]);
      expect((await setup("--apply")).code).toBe(0);
      expect((await theField("gateway"))?.object_types).toEqual(expect.arrayContaining(["ipam.vlan", "ipam.prefix"]));
      expect(((await owner.must("GET", path)).extra_choices as string[][]).map(([value]) => value)).toEqual(
        expect.arrayContaining(["provision", "attest", "polish", "wipe"]),
      );
      expect((await planned()).steps).toEqual([]);
    });

    it("made a webhook that tells of the fleet's devices, of their end too, and of no others, signed", async () => {
      const receiver = await startReceiver();
      const there = ["--webhook-url", receiver.url, "--apply"];
      expect((await setup(...there)).code).toBe(0);
      const named = (name: string) => ({ name, slug: name });
      const site = await owner.must("POST", "/api/dcim/sites/", named("hook-site"));
      const maker = await owner.must("POST", "/api/dcim/manufacturers/", named("hook-maker"));
      const model = { manufacturer: maker.id, model: "hook-model", slug: "hook-model" };
      const type = await owner.must("POST", "/api/dcim/device-types/", model);
      const other = await owner.must("POST", "/api/dcim/device-roles/", { ...named("hook-role"), color: "9e9e9e" });
      const make = async (name: string, role: unknown) => {
        const body = { name, role, site: site.id, device_type: type.id };
        return `/api/dcim/devices/${(await owner.must("POST", "/api/dcim/devices/", body)).id}/`;
      };
      const paths = [await make("hook-switch", other.id), await make("hook-node", { slug: "fleet-node" })];
      for (const path of paths) await owner.must("PATCH", path, { serial: "H-1" });
      for (const path of paths) await owner.call("DELETE", path);
      await expect.poll(() => receiver.got.length, { timeout: 30_000 }).toBe(3);
      const bodies = receiver.got.map(({ body }) => JSON.parse(body));
      expect(bodies.map(({ event, data }) => `${event} ${data.name}`)).toEqual([
        "created hook-node",
        "updated hook-node",
        "deleted hook-node",
      ]);
      for (const { body, headers } of receiver.got) {
        const signature = headers["x-hook-signature"]?.toString();
        expect(hookSignatureFits(new TextEncoder().encode(body), signature, contents("webhook-secret"))).toBe(true);
      }
      await receiver.close();
      expect((await setup("--apply")).code).toBe(0);
    });

    it("refuses a desired_action that fills itself", async () => {
      const path = `/api/extras/custom-fields/${(await theField("desired_action"))?.id}/`;
      await owner.must("PATCH", path, { default: "wipe" });
      expect((await planned("--apply")).refused).toEqual([expect.stringMatching(/desired_action has a default/)]);
      await owner.must("PATCH", path, { default: null });
    });

    it("refuses a fleet_class that is required or fills itself: it is what a new device gets last", async () => {
      const path = `/api/extras/custom-fields/${(await theField("fleet_class"))?.id}/`;
      await owner.must("PATCH", path, { required: true, default: "talos-worker" });
      expect((await planned("--apply")).refused).toEqual([
        expect.stringMatching(/fleet_class is required, .*: make it optional/),
        expect.stringMatching(/fleet_class has a default, .*: take it away/),
      ]);
      await owner.must("PATCH", path, { required: false, default: null });
    });

    it("refuses a token file that NetBox does not take; without it there is a new token, and the old one is told of", async () => {
      const file = join(secrets, "netbox-token");
      const old = contents("netbox-token");
      writeFileSync(file, "nbt_nobodynobody.0123456789012345678901234567890123456789\n");
      expect((await planned("--apply")).refused).toEqual([
        expect.stringMatching(/NetBox does not take the token in it/),
      ]);
      rmSync(file);
      const { code, steps, notes } = await planned("--apply");
      expect([code, steps.map(({ what }) => what)]).toEqual([0, ["token"]]);
      expect(notes).toEqual([expect.stringMatching(/has other tokens already \(1\)/)]);
      expect(contents("netbox-token")).not.toBe(old);
    });

    it("refuses fleetd's own token, and says that one without rights has none", async () => {
      const own = { ...env, FLEETCTL_NETBOX_TOKEN_FILE: join(secrets, "netbox-token") };
      const { code, err } = await run(["netbox", "setup", "--webhook-url", hook, "--secrets", secrets], own);
      expect([code, err]).toEqual([1, expect.stringMatching(/permission/)]);
    });
  });
}
