import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { freezeClass } from "../../../shared/fleet/class.ts";
import type { RenderInput } from "../../../shared/fleet/payload/_renderer.ts";
import { talosFaults } from "../../../shared/fleet/payload/_talos-check.ts";
import { talos } from "../../../shared/fleet/payload/talos.ts";
import { CLASSES } from "../../scenarios/fixtures.ts";

const b64 = (text: string) => Buffer.from(text).toString("base64");
const pair = (name: string) => ({
  crt: b64(`-----BEGIN CERTIFICATE-----\n${name}\n`),
  key: b64(`-----BEGIN EC PRIVATE KEY-----\n${name}\n`),
});
const SECRETS = {
  cluster: { id: "aWQ=", secret: "c2VjcmV0" },
  secrets: { bootstraptoken: "aaaaaa.aaaaaaaaaaaaaaaa", secretboxencryptionsecret: "Ym94" },
  trustdinfo: { token: "bbbbbb.bbbbbbbbbbbbbbbb" },
  certs: {
    etcd: pair("etcd"),
    k8s: pair("k8s"),
    k8saggregator: pair("agg"),
    os: pair("os"),
    k8sserviceaccount: { key: "x" },
  },
};

function input(change: Partial<RenderInput> = {}): RenderInput {
  const cls = freezeClass("talos-worker", CLASSES, null);
  if (cls === null) throw new Error("no class");
  return {
    class: cls,
    name: "w1",
    serial: "SN0001",
    uuid: "11111111-2222-4333-8444-555555555555",
    disk: { device: "nvme0n1", serial: "S4XYNX0R123456" },
    mac: "52:54:00:00:00:07",
    address: "10.0.0.7/24",
    gateway: null,
    token: "abcdef.0123456789abcdef",
    talosSecrets: SECRETS,
    identityFiles: { "ldevid.pem": "-----BEGIN CERTIFICATE-----\n" },
    ...change,
  };
}

function documents(i = input()) {
  const rendered = talos.render(i);
  if (!rendered.ok) throw new Error(rendered.reason);
  return parseAllDocuments(rendered.body).map((d) => d.toJS() as Record<string, Record<string, unknown>>);
}

describe("Talos worker configuration (facts/talos.md 4.2)", () => {
  it("says what NetBox and the run say", () => {
    const [main, ...rest] = documents();
    expect(main?.machine).toMatchObject({
      type: "worker",
      token: "bbbbbb.bbbbbbbbbbbbbbbb",
      ca: { crt: pair("os").crt, key: "" },
      install: {
        diskSelector: { serial: "S4XYNX0R123456" },
        image: `registry.example/installer@sha256:${"b".repeat(64)}`,
        wipe: false,
      },
    });
    expect(main?.cluster).toEqual({
      id: "aWQ=",
      secret: "c2VjcmV0",
      controlPlane: { endpoint: "https://cluster.example:6443" },
      token: "abcdef.0123456789abcdef",
      ca: { crt: pair("k8s").crt, key: "" },
    });
    expect(rest).toContainEqual({ apiVersion: "v1alpha1", kind: "HostnameConfig", hostname: "w1" });
    expect(rest).toContainEqual({
      apiVersion: "v1alpha1",
      kind: "LinkConfig",
      name: "net0",
      addresses: [{ address: "10.0.0.7/24" }],
      routes: [{ gateway: "10.0.0.1" }],
    });
  });

  it("holds no secret of a control plane, and no private key", () => {
    const rendered = talos.render(input());
    if (!rendered.ok) throw new Error(rendered.reason);
    for (const secret of [
      "aaaaaa.aaaaaaaaaaaaaaaa",
      "Ym94",
      pair("etcd").key,
      pair("k8s").key,
      pair("os").key,
      pair("agg").crt,
    ])
      expect(rendered.body).not.toContain(secret);
  });

  it.each([
    ["no token", { token: null }, /token/],
    ["a gateway out of reach", { gateway: "10.0.1.1" }, /gateway 10\.0\.1\.1 lies outside/],
    [
      "an address whose class's gateway is out of reach",
      { address: "10.7.0.7/24" },
      /gateway 10\.0\.0\.1 lies outside/,
    ],
    ["no secret bundle", { talosSecrets: { cluster: {} } }, /gen secrets/],
  ])("refuses: %s", (_what, change, words) => {
    const rendered = talos.render(input(change as Partial<RenderInput>));
    expect(rendered.ok ? "" : rendered.reason).toMatch(words);
  });

  it.each([
    [
      "another token",
      (d: unknown[]) => ((d[0] as { cluster: { token: string } }).cluster.token = "zzzzzz.zzzzzzzzzzzzzzzz"),
      /not this node's/,
    ],
    [
      "another disk",
      (d: unknown[]) =>
        ((d[0] as { machine: { install: { diskSelector: { serial: string } } } }).machine.install.diskSelector.serial =
          "X"),
      /declared disk/,
    ],
    [
      "no machine.token",
      (d: unknown[]) => delete (d[0] as { machine: { token?: string } }).machine.token,
      /machine.token/,
    ],
    [
      "a private key in base64",
      (d: unknown[]) => ((d[0] as { machine: Record<string, unknown> }).machine.extra = pair("x").key),
      /private key/,
    ],
    [
      "a tag in place of a digest",
      (d: unknown[]) => ((d[0] as { machine: { install: { image: string } } }).machine.install.image = "installer:v1"),
      /image/,
    ],
    ["a document twice", (d: unknown[]) => d.push(d[1]), /twice/],
    ["another host name", (d: unknown[]) => ((d[1] as { hostname: string }).hostname = "w2"), /HostnameConfig/],
    [
      "two addresses",
      (d: unknown[]) => (d[3] as { addresses: unknown[] }).addresses.push({ address: "10.0.0.8/24" }),
      /one address/,
    ],
    [
      "etcd's secrets",
      (d: unknown[]) => ((d[0] as { cluster: Record<string, unknown> }).cluster.etcd = {}),
      /control plane/,
    ],
  ])("finds %s, which Talos's own validation lets pass (facts/talos.md 4.3)", (_what, spoil, words) => {
    const all: unknown[] = documents();
    spoil(all);
    expect(talosFaults(all, input()).join("; ")).toMatch(words);
  });
});
