import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LabAuthority } from "../../../infra/lab/kubernetes/authority.ts";
import { writeKubeconfig } from "../../../infra/lab/kubernetes/kubeconfig.ts";
import { startLabKubernetes } from "../../../infra/lab/kubernetes/server.ts";
import { startLabNetBox } from "../../../infra/lab/netbox/lab-netbox.ts";
import type { PolicyTexts } from "../../../shared/ports/policy.ts";
import { ownerOf, type Row } from "../../contracts/netbox-owner.ts";
import { type FakeAuthority, fakeAuthority } from "../../fakes/authority.ts";

export const HOOKOS_MARKER = "fleet_hookos=1";
/** Longer than a session's two steps take on a loaded machine, short enough to wait for its end. */
export const SESSION_MS = 6_000;

const OWNER_TOKEN = "nbt_adminadmin12.0123456789abcdef0123456789abcdef01234567";
const FLEETD_TOKEN = "nbt_fleetdfleet1.0123456789abcdef0123456789abcdef01234567";

/** What an owner writes of one device. */
export interface DeviceOrder {
  readonly name: string;
  readonly serial: string;
  readonly eks: readonly string[];
  readonly status?: string;
  readonly fleetClass?: string;
  readonly interfaces?: number;
  /** A device of the same values that stays beside the earlier ones. */
  readonly beside?: boolean;
}

/** NetBox and the Kubernetes API of the lab, and all that fleetd is told: the same on Node and on workerd. */
export interface Peers {
  readonly netbox: { readonly url: string; readonly token: string };
  readonly kubernetes: { readonly url: string; readonly caPem: string; readonly token: string; readonly file: string };
  readonly issuer: { readonly keyPem: string; readonly chainPem: string };
  readonly folder: string;
  readonly policy: PolicyTexts;
  readonly accepted: FakeAuthority;
  readonly foreign: FakeAuthority;
  /** Declares a device in NetBox, in place of those declared before; returns its id. */
  declare(order: DeviceOrder): Promise<number>;
  edit(id: number, change: Readonly<Record<string, unknown>>): Promise<void>;
  row(id: number): Promise<Row>;
  macs(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const worker = (change: object) => ({
  os: "talos",
  workload: "worker",
  template: "provision",
  profile: "strict",
  secureBoot: "required",
  payload: "talos",
  reattest: "renew",
  attestation: "supported",
  ...change,
});

export async function startPeers(): Promise<Peers> {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-black-box-"));
  const tokens = [
    { token: OWNER_TOKEN, user: "admin", write: true },
    { token: FLEETD_TOKEN, user: "fleetd", write: true, scope: "fleetd" as const },
  ];
  const netbox = await startLabNetBox({ tokens });
  const kubernetes = await startLabKubernetes({
    kinds: "tinkerbell",
    tokens: [{ token: "fleetd-token", user: "fleetd", groups: [] }],
  });
  const file = join(folder, "kubeconfig");
  writeKubeconfig(file, kubernetes.url, "fleetd-token", "tinkerbell", kubernetes.caPem);
  const issuer = new LabAuthority("Lab device CA");
  const accepted = fakeAuthority("Lab boot authority");
  const foreign = fakeAuthority("Somebody's boot authority");
  const owner = ownerOf(netbox.url, OWNER_TOKEN);
  const declared: number[] = [];
  const declare: Peers["declare"] = async (order) => {
    if (order.beside !== true)
      for (const id of declared.splice(0)) await owner.call("DELETE", `/api/dcim/devices/${id}/`);
    const device = await owner.must("POST", "/api/dcim/devices/", {
      name: order.name,
      device_type: { slug: "mini-800" },
      role: { slug: "fleet-node" },
      site: { slug: "lab" },
      status: order.status ?? "planned",
      serial: order.serial,
      custom_fields: {
        fleet_class: order.fleetClass ?? "worker",
        approved_eks: order.eks.map((digest) => ({ digest, source: "SCAN:1" })),
      },
    });
    declared.push(device.id);
    for (let n = 0; n < (order.interfaces ?? 1); n++)
      await owner.must("POST", "/api/dcim/interfaces/", { device: device.id, name: `eno${n}`, type: "1000base-t" });
    return device.id;
  };
  const profile = (name: string, ...stages: string[]) => ({
    name,
    bank: "sha256",
    authorities: [{ pem: accepted.pem, for: stages }],
    ...(stages.length > 1 ? { hookosMarker: HOOKOS_MARKER, osMarker: "fleet_os=talos" } : {}),
  });
  return {
    netbox: { url: netbox.url, token: FLEETD_TOKEN },
    kubernetes: { url: kubernetes.url, caPem: kubernetes.caPem, token: "fleetd-token", file },
    issuer: { keyPem: issuer.keyPem(), chainPem: issuer.pem },
    folder,
    policy: {
      classes: {
        worker: worker({}),
        marked: worker({ profile: "marked" }),
        wide: worker({ profile: "wide" }),
        unprofiled: worker({ profile: null }),
        old: worker({ attestation: "unsupported" }),
      },
      classInputs: null,
      ekPins: null,
      profiles: {
        strict: profile("strict", "hookos"),
        marked: profile("marked", "hookos", "os"),
        wide: { ...profile("wide", "hookos"), bank: "sha384" },
      },
      talosSecrets: null,
    },
    accepted,
    foreign,
    declare,
    edit: async (id, change) => void (await owner.must("PATCH", `/api/dcim/devices/${id}/`, change)),
    row: (id) => owner.must("GET", `/api/dcim/devices/${id}/`),
    async macs() {
      const list = await owner.must("GET", "/api/dcim/mac-addresses/?limit=500");
      return (list.results as Row[]).map((row) => String(row.mac_address).toLowerCase());
    },
    async close() {
      await netbox.close();
      await kubernetes.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
