import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a running HookOS shows of its machine. */
export interface HookosFacts {
  readonly serial: string;
  readonly uuid: string;
  readonly mac: string;
  readonly commandLine: string;
  readonly eventLog: Uint8Array;
  /** The whole Ethernet frame, as the entrypoint caught it. */
  readonly lldpFrame: Uint8Array | null;
}

const LOG = "sys/kernel/security/tpm0/binary_bios_measurements";

/** Makes the tree of a freshly booted HookOS: what FLEET_ROOT names for tink-attest. */
export function writeHookosRoot(root: string, facts: HookosFacts): void {
  rmSync(root, { recursive: true, force: true });
  const put = (path: string, contents: string | Uint8Array) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  };
  put("sys/class/dmi/id/product_serial", `${facts.serial}\n`);
  put("sys/class/dmi/id/chassis_serial", `${facts.serial}\n`);
  put("sys/class/dmi/id/product_uuid", `${facts.uuid}\n`);
  put("sys/class/net/lo/address", "00:00:00:00:00:00\n");
  put("sys/class/net/lo/operstate", "unknown\n");
  put("sys/class/net/eth0/address", `${facts.mac}\n`);
  put("sys/class/net/eth0/operstate", "up\n");
  put("sys/class/net/eth0/device/vendor", "0x8086\n");
  // HookOS runs containers: their bridge is up too, and no NIC.
  put("sys/class/net/docker0/address", "02:42:00:00:00:01\n");
  put("sys/class/net/docker0/operstate", "up\n");
  put("proc/cmdline", `${facts.commandLine}\n`);
  put("etc/os-release", 'NAME="HookOS"\nVERSION="0.11.0-lab"\n');
  put(LOG, facts.eventLog);
  if (facts.lldpFrame !== null) put("run/fleet/lldp.frame", facts.lldpFrame);
  mkdirSync(join(root, "worker/fleet"), { recursive: true });
}

/** What tink-attest reads of the tree, by the same rules. */
export interface HookosReading extends HookosFacts {
  readonly hookosVersion: string;
  /** /worker/fleet. */
  readonly fleetDirectory: string;
}

/** Reads the tree as tink-attest does. */
export function readHookosRoot(root: string): HookosReading {
  const line = (path: string) => {
    const file = join(root, path);
    return existsSync(file) ? (readFileSync(file, "utf8").split("\n")[0] ?? "") : "";
  };
  const bytes = (path: string) =>
    existsSync(join(root, path)) ? new Uint8Array(readFileSync(join(root, path))) : null;
  const dmi = "sys/class/dmi/id";
  const nics = readdirSync(join(root, "sys/class/net")).sort();
  const isNic = (name: string) => existsSync(join(root, "sys/class/net", name, "device"));
  const nic = nics.find((name) => isNic(name) && line(`sys/class/net/${name}/operstate`) === "up");
  const release = readFileSync(join(root, "etc/os-release"), "utf8");
  return {
    serial: line(`${dmi}/product_serial`) || line(`${dmi}/chassis_serial`),
    uuid: line(`${dmi}/product_uuid`).toLowerCase(),
    mac: nic === undefined ? "" : line(`sys/class/net/${nic}/address`),
    commandLine: line("proc/cmdline"),
    eventLog: bytes(LOG) ?? new Uint8Array(0),
    lldpFrame: bytes("run/fleet/lldp.frame"),
    hookosVersion: /^VERSION="?([^"\n]*)/m.exec(release)?.[1] ?? "unknown",
    fleetDirectory: join(root, "worker/fleet"),
  };
}
