import { afterAll, describe, expect, it } from "vitest";
import { type LabNetBox, startLabNetBox } from "../../infra/lab/netbox/lab-netbox.ts";
import { run } from "../infra/fleetctl/cli.ts";
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

describe("fleetctl netbox setup, called wrongly", () => {
  const url = "--webhook-url=https://fleetd.example/webhooks/netbox";
  it.each([
    [["--secrets", "/x"], {}, /--webhook-url must be a URL/],
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

  it("no NetBox is no answer", async () => {
    const env = { FLEETCTL_NETBOX_URL: "http://127.0.0.1:1", FLEETCTL_NETBOX_TOKEN: "x" };
    const { code, err } = await run(["netbox", "setup", url, "--secrets", "/x"], env);
    expect([code, err]).toEqual([2, expect.stringMatching(/netbox unavailable/)]);
  });
});
