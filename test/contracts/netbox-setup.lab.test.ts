import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { newSecret, readSecret } from "../../infra/fleetctl/netbox/secret-file.ts";
import { type LabNetBox, startLabNetBox } from "../../infra/lab/netbox/lab-netbox.ts";
import { run } from "../infra/fleetctl/cli.ts";
import { ownerOf } from "./netbox-owner.ts";
import { netboxSetupContract } from "./netbox-setup.ts";

const adminToken = "nbt_adminadmin12.0123456789abcdef0123456789abcdef01234567";
const tokens = [{ token: adminToken, user: "admin", write: true }];
const running: LabNetBox[] = [];
afterAll(() => Promise.all(running.map((lab) => lab.close())));

for (const version of ["4.7.3", "4.6.2"]) {
  describe(`the lab's bare NetBox ${version}`, () => {
    netboxSetupContract(async () => {
      const lab = await startLabNetBox({ tokens, version, bare: true });
      running.push(lab);
      return { url: lab.url, adminToken };
    });
  });
}

describe("fleetctl netbox setup in trouble", () => {
  const folder = mkdtempSync(join(tmpdir(), "fleetctl-setup-"));
  const secrets = join(folder, "secrets");
  afterAll(() => rmSync(folder, { recursive: true }));

  it("a token whose answer is lost leaves no file; the next run makes another, and tells of the first", async () => {
    const lab = await startLabNetBox({ tokens, bare: true });
    running.push(lab);
    const env = { FLEETCTL_NETBOX_URL: lab.url, FLEETCTL_NETBOX_TOKEN: adminToken };
    const args = ["netbox", "setup", "--webhook-url", "https://fleetd.example/webhooks/netbox", "--secrets", secrets];
    const owner = ownerOf(lab.url, adminToken);
    await owner.must("POST", "/lab/faults", { mode: "lost-answer", method: "POST", path: "/api/users/tokens/" });
    const cut = await run([...args, "--apply"], env);
    expect([cut.code, cut.err]).toEqual([2, expect.stringMatching(/netbox unavailable: POST \/api\/users\/tokens\//)]);
    expect(readdirSync(secrets)).toEqual(["webhook-secret"]);
    await owner.must("POST", "/lab/faults", { mode: "ok" });
    const rest = await run([...args, "--apply"], env);
    expect([rest.code, rest.out]).toEqual([
      0,
      expect.stringMatching(/note: user fleetd has other tokens already \(1\)/),
    ]);
    expect(readdirSync(secrets).sort()).toEqual(["netbox-token", "webhook-secret"]);
    expect((await run(args, env)).code).toBe(0);
  });

  it("with --json it says what was done where it fails midway", async () => {
    const lab = await startLabNetBox({ tokens, bare: true });
    running.push(lab);
    const env = { FLEETCTL_NETBOX_URL: lab.url, FLEETCTL_NETBOX_TOKEN: adminToken };
    const fault = { mode: "lost-answer", method: "POST", path: "/api/users/users/" };
    await ownerOf(lab.url, adminToken).must("POST", "/lab/faults", fault);
    const args = ["netbox", "setup", "--webhook-url", "https://fleetd.example/webhooks/netbox", "--json", "--apply"];
    const { code, out } = await run([...args, "--secrets", join(folder, "cut")], env);
    expect([code, JSON.parse(out)]).toMatchObject([
      2,
      { applied: false, fault: expect.stringMatching(/netbox unavailable: POST \/api\/users\/users\//) },
    ]);
    expect(JSON.parse(out).done).toEqual(expect.arrayContaining(["create custom field gateway"]));
    expect(JSON.parse(out).done).not.toContain("create user fleetd");
    expect(readdirSync(join(folder, "cut"))).toEqual(["webhook-secret"]);
  });

  it.each([
    [
      "the folder is a file",
      (at: string) => writeFileSync(at, ""),
      /netbox-token cannot be read: what should be its folder/,
      ".",
    ],
    [
      "the folder is in a file",
      (at: string) => writeFileSync(at, ""),
      /cannot be read: what should be its folder/,
      "in",
    ],
    [
      "the token's file is a folder",
      (at: string) => void mkdirSync(join(at, "netbox-token"), { recursive: true }),
      /netbox-token cannot be read: it is a folder/,
      ".",
    ],
    ["the file cannot be made", () => undefined, /netbox-token cannot be made: /, "/sys/fleetd"],
  ] satisfies readonly [string, (at: string) => void, RegExp, string][])(
    "where %s it says so, and NetBox is not written to",
    async (what, make, words, below) => {
      const lab = await startLabNetBox({ tokens, bare: true });
      running.push(lab);
      const env = { FLEETCTL_NETBOX_URL: lab.url, FLEETCTL_NETBOX_TOKEN: adminToken };
      const at = join(folder, what.replaceAll(" ", "-"));
      make(at);
      const args = ["netbox", "setup", "--webhook-url", "https://fleetd.example/webhooks/netbox", "--apply"];
      const { code, err } = await run([...args, "--secrets", below.startsWith("/") ? below : join(at, below)], env);
      expect([code, err]).toEqual([1, expect.stringMatching(words)]);
      const fields = await ownerOf(lab.url, adminToken).must("GET", "/api/extras/custom-fields/");
      expect(fields.count).toBe(0);
    },
  );

  it("secrets are kept in the file of their name alone, which is never replaced", () => {
    const path = join(folder, "one");
    const first = newSecret(path);
    writeFileSync(path, "somebody's");
    expect(() => first.keep("new")).toThrow(/one cannot be written: there is a file of that name/);
    expect([readSecret(path), readSecret(join(folder, "none"))]).toEqual(["somebody's", null]);
    expect(readdirSync(folder).filter((name) => name.startsWith("one"))).toEqual(["one"]);
  });
});

describe("fleetctl netbox setup, called wrongly", () => {
  const url = "--webhook-url=https://fleetd.example/webhooks/netbox";
  it.each([
    [["--secrets", "/x"], {}, /--webhook-url must be a URL/],
    [["--secrets", "/x", "--webhook-url=https://fleetd.example/"], {}, /--webhook-url must end with .webhooks.netbox/],
    [["--secrets", "/x", "--webhook-url=https://u:pw@h/webhooks/netbox"], {}, /^(?!.*pw@).*holds a user or a password/],
    [[url, "--secrets", ""], {}, /--secrets FOLDER is needed/],
    [[url, "--secrets", "/x", "--role", ""], {}, /"" is no slug of a device role/],
    [[url, "--secrets", "/x", "--role", "Fleet Node"], {}, /"Fleet Node" is no slug of a device role/],
    [[url, "--secrets", "/x"], { FLEET_NETBOX_USER: "" }, /--user \(or FLEET_NETBOX_USER\) "" is no name/],
    [
      [url, "--secrets", "/x"],
      { FLEETCTL_NETBOX_URL: "https://u:pw@netbox.example", FLEETCTL_NETBOX_TOKEN: "x" },
      /^(?!.*pw@).*FLEETCTL_NETBOX_URL holds a user or a password/,
    ],
    [
      [url, "--secrets", "/x"],
      { FLEETCTL_NETBOX_URL: "https://netbox.example", FLEETCTL_NETBOX_TOKEN: "tökén" },
      /is no token of NetBox/,
    ],
    [[url], {}, /--secrets FOLDER is needed/],
    [[url, "--secrets", "/x"], {}, /FLEETCTL_NETBOX_URL must name NetBox/],
    [
      [url, "--secrets", "/x"],
      { FLEETCTL_NETBOX_URL: "http://127.0.0.1:1" },
      /FLEETCTL_NETBOX_TOKEN_FILE .* is needed/,
    ],
    [[url, "--secrets", "/x", "now"], {}, /no operand is taken/],
  ])("%j", async (args, env, text) => {
    const { code, err } = await run(["netbox", "setup", ...args], env as Record<string, string>);
    expect([code, err]).toEqual([64, expect.stringMatching(text)]);
  });

  it("a name of two words has its help, and half of it is no command", async () => {
    expect((await run(["help", "netbox", "setup"])).out).toMatch(/^usage: fleetctl netbox setup \[OPTION…\]\n/);
    expect((await run(["netbox", "setup", "--help"])).code).toBe(0);
    expect(await run(["netbox"])).toMatchObject({ code: 64, err: expect.stringMatching(/no command netbox/) });
  });

  it("no NetBox is no answer", async () => {
    const env = { FLEETCTL_NETBOX_URL: "http://127.0.0.1:1", FLEETCTL_NETBOX_TOKEN: "x" };
    const { code, err } = await run(["netbox", "setup", url, "--secrets", "/x"], env);
    expect([code, err]).toEqual([2, expect.stringMatching(/netbox unavailable/)]);
  });
});
