import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { ownerOf } from "../../../contracts/netbox-owner.ts";

const main = new URL("../../../../infra/lab/netbox/main.ts", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "fleetd-lab-netbox-"));
const token = "0123456789abcdef0123456789abcdef01234567";
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function launch(options: object): Promise<{ child: ChildProcess; url: string }> {
  const file = join(folder, "options.json");
  writeFileSync(file, JSON.stringify(options));
  const child = spawn(process.execPath, [main, file], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  if (child.stdout === null) throw new Error("no output");
  const [line] = await once(createInterface(child.stdout), "line");
  return { child, url: /^ready (http:\S+)$/.exec(String(line))?.[1] ?? `no address in ${line}` };
}

it("runs as a process of its own, ends on SIGTERM, and finds its state again", async () => {
  const state = join(folder, "netbox.json");
  const options = { state, role: "k8s-node", tokens: [{ token, user: "admin", write: true }] };
  const first = await launch(options);
  const { id } = await ownerOf(first.url, token).addMachine({
    name: "m1",
    role: "k8s-node",
    number: 1,
    switchPort: "port9",
  });
  const seen = await ownerOf(first.url, token).must("GET", `/api/dcim/devices/${id}/`);
  first.child.kill("SIGTERM");
  expect(await once(first.child, "exit")).toEqual([0, null]);
  expect(existsSync(state) && statSync(state).mode & 0o777).toBe(0o600);

  const second = await launch(options);
  const again = await ownerOf(second.url, token).must("GET", `/api/dcim/devices/${id}/`);
  expect({ ...again, url: "", display_url: "" }).toMatchObject({
    name: seen.name,
    serial: seen.serial,
    last_updated: seen.last_updated,
  });
  const added = await ownerOf(second.url, token).addMachine({ name: "m2", role: "k8s-node", number: 2 });
  expect(added.id).toBeGreaterThan(id);
});

it("a restored backup is all that is there", async () => {
  const { url } = await launch({ tokens: [{ token, user: "admin", write: true }] });
  const owner = ownerOf(url, token);
  const kept = await owner.addMachine({ name: "kept", role: "fleet-node", number: 1 });
  const backup = await owner.must("POST", "/lab/snapshot");
  const lost = await owner.addMachine({ name: "lost", role: "fleet-node", number: 2 });
  await owner.must("PATCH", `/api/dcim/devices/${kept.id}/`, { status: "active" });
  await owner.call("POST", "/lab/restore", backup);
  expect((await owner.call("GET", `/api/dcim/devices/${lost.id}/`)).status).toBe(404);
  expect((await owner.must("GET", `/api/dcim/devices/${kept.id}/`)).status).toMatchObject({ value: "planned" });
});
