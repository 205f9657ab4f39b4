import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { durationVariable, readSettings } from "../../../shared/runtime/config.ts";
import { looseFiles } from "../../../shared/runtime/file-modes.ts";
import { namesSecretFile } from "../../../shared/runtime/setting-kinds.ts";
import { settingsSchema } from "../../../shared/runtime/settings-table.ts";

const folder = mkdtempSync(join(tmpdir(), "fleetd-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const SECRET = "s3cr3t-0123456789-0123456789-0123456789";

/** The least that starts. */
const good = (): Record<string, string> => ({
  FLEET_NETBOX_URL: "https://netbox.example",
  FLEET_NETBOX_TOKEN_FILE: file("netbox", `${SECRET}\n`),
  FLEET_TINKERBELL_KUBECONFIG: file("kubeconfig", "{}"),
  FLEET_CLUSTER_KUBECONFIG: file("kubeconfig", "{}"),
  FLEET_WEBHOOK_SECRET_FILE: file("webhook", SECRET),
  FLEET_CLASSES: file("classes.json", "{}"),
  FLEET_PROFILES: folder,
  FLEET_CA_KEY_FILE: file("ca.key", ""),
  FLEET_CA_CHAIN_FILE: file("ca.pem", ""),
  FLEET_TRUST_DOMAIN: "example.org",
  FLEET_TOOLS_IMAGE: "registry.example/tools:1",
  FLEET_DEVICE_URL: "https://enroll.example",
  FLEET_SPIRE_NODES_FILE: "/spire-nodes.json",
  FLEET_ADMIN_TOKEN_FILE: file("admin", SECRET),
  PATH: "/bin",
});

function refused(change: Record<string, string | undefined>): string {
  try {
    readSettings({ ...good(), ...change });
  } catch (error) {
    const { message } = error as Error;
    expect(message).not.toContain(SECRET);
    return message;
  }
  throw new Error("the settings were taken");
}

describe("settings", () => {
  it("the least that starts, with the specification's defaults", () => {
    const s = readSettings(good());
    expect(s.FLEET_NETBOX_TOKEN_FILE).toBe(SECRET);
    expect([s.FLEET_DEVICE_ADDRESS, s.FLEET_ADMIN_ADDRESS, s.FLEET_METRICS_ADDRESS]).toEqual([
      "0.0.0.0:8443",
      "127.0.0.1:8444",
      "127.0.0.1:8446",
    ]);
    expect(s.FLEET_RATE_BEGIN).toBe(20);
    expect(s.FLEET_SWITCH_PORT).toBe("require");
    expect(s.durations.sessionMs).toBe(600_000);
    expect(s.sessionKeys.map((k) => k.length)).toEqual([32]);
  });

  it("every error at once, each by its name", () => {
    const message = refused({
      FLEET_NETBOX_URL: "netbox",
      FLEET_TRUST_DOMAIN: undefined,
      FLEET_SWITCH_PORT: "maybe",
      FLEET_MAX_DISK_RUNS: "0",
      FLEET_DEVICE_ADDRESS: "8443",
      FLEET_SESSION_MS: "10m",
      FLEET_DEVICE_TLS_CERT: file("cert", ""),
      FLEET_REDIS_URL: "redis://localhost",
      FLEET_SESION_KEY_FILE: "/typo",
      FLEET_NETBOX_TOKEN_FILE: join(folder, "nowhere"),
      FLEET_WEBHOOK_SECRET_FILE: file("short", "short"),
    });
    for (const name of [
      "FLEET_NETBOX_URL",
      "FLEET_TRUST_DOMAIN",
      "FLEET_SWITCH_PORT",
      "FLEET_MAX_DISK_RUNS",
      "FLEET_DEVICE_ADDRESS",
      "FLEET_SESSION_MS",
      "FLEET_DEVICE_TLS_CERT and FLEET_DEVICE_TLS_KEY",
      "FLEET_SESSION_KEY_FILE",
      "FLEET_SESION_KEY_FILE: is no setting",
      "FLEET_NETBOX_TOKEN_FILE",
      "FLEET_WEBHOOK_SECRET_FILE",
    ])
      expect(message).toContain(name);
    expect(message.split("\n")).toHaveLength(12);
  });

  it("names every file that is not there, and every setting that is missing", () => {
    const names = ["FLEET_CLASSES", "FLEET_PROFILES", "FLEET_CA_KEY_FILE", "FLEET_TINKERBELL_KUBECONFIG"];
    const absent = refused(Object.fromEntries(names.map((name) => [name, "/nonexist"])));
    for (const name of names) expect(absent).toContain(`${name}: names a file or folder that is not there`);
    expect(refused({ FLEET_TRUST_DOMAIN: undefined })).toContain("FLEET_TRUST_DOMAIN: is missing");
  });

  it("an unknown FLEET_ name is refused, others are not ours", () => {
    expect(refused({ FLEET_NETBOX_TOKEN: SECRET })).toContain("FLEET_NETBOX_TOKEN: is no setting");
    expect(refused({ FLEET_NETBOX_TOKEN: SECRET }).split("\n")).toHaveLength(2);
  });

  it.each([
    ["an empty webhook secret", { FLEET_WEBHOOK_SECRET_FILE: "empty" }],
    ["an admin token below 32 bytes", { FLEET_ADMIN_TOKEN_FILE: "31" }],
    ["a session key below 32 bytes", { FLEET_SESSION_KEY_FILE: "31" }],
    ["three session keys", { FLEET_SESSION_KEY_FILE: "three" }],
    ["no admin CA and no token", { FLEET_ADMIN_TOKEN_FILE: undefined }],
    ["an admin CA without TLS", { FLEET_ADMIN_CA: "empty" }],
    ["a folder for evidence that is not there", { FLEET_EVIDENCE_DIR: "/nowhere/evidence" }],
    ["a file in the place of that folder", { FLEET_EVIDENCE_DIR: "empty" }],
    ["a network among trusted proxies", { FLEET_TRUSTED_PROXIES: "10.0.0.1, 10.1.0.0/16" }],
    ["fleetctl's settings", { FLEET_ADMIN_URL: "https://fleetd.example" }],
    ["an empty interval", { FLEET_PASS_INTERVAL_MS: "" }],
    ["a number in another form", { FLEET_RATE_BEGIN: "1e3" }],
  ])("refuses %s", (_what, change) => {
    file("empty", "\n");
    file("31", "x".repeat(31));
    file("three", [1, 2, 3].map((n) => String(n).repeat(32)).join("\n"));
    const paths = Object.entries(change).map(([k, v]) => [
      k,
      v !== undefined && /^[a-z0-9]+$/.test(v) && !/^1e3$/.test(v) ? join(folder, v) : v,
    ]);
    expect(refused(Object.fromEntries(paths))).toContain(Object.keys(change)[0]);
  });

  it("two session keys of a rotation, the first one first", () => {
    const keys = file("two", `${"n".repeat(32)}\n${"o".repeat(32)}\n`);
    const s = readSettings({ ...good(), FLEET_SESSION_KEY_FILE: keys });
    expect(s.sessionKeys.map((k) => new TextDecoder().decode(k))).toEqual(["n".repeat(32), "o".repeat(32)]);
  });

  it("a duration is a setting by its name", () => {
    expect(durationVariable("tokenAfterApprovalMs")).toBe("FLEET_TOKEN_AFTER_APPROVAL_MS");
    const s = readSettings({ ...good(), FLEET_TOKEN_AFTER_APPROVAL_MS: "5" });
    expect(s.durations.tokenAfterApprovalMs).toBe(5);
    expect(s.durations.drainMs).toBe(600_000);
  });

  describe("the issuer", () => {
    const pkcs11 = () => ({
      FLEET_CA_KEY_FILE: undefined,
      FLEET_CA_SIGNER: "pkcs11",
      FLEET_CA_PKCS11_MODULE: file("module.so", ""),
      FLEET_CA_PKCS11_TOKEN: "fleetd",
      FLEET_CA_PKCS11_KEY_ID: "9c",
      FLEET_CA_PIN_FILE: file("pin", "1234-pin"),
    });

    it("is a key file where nothing else is said", () => {
      expect(readSettings(good()).signer).toEqual({ kind: "key-file", keyFile: join(folder, "ca.key") });
    });

    it("on a token, by id or label; the PIN stays in its file", () => {
      const { signer, ...rest } = readSettings({ ...good(), ...pkcs11() });
      expect(signer).toEqual({
        ...{ kind: "pkcs11", module: join(folder, "module.so"), token: "fleetd", keyLabel: undefined, keyId: "9c" },
        pinFile: join(folder, "pin"),
      });
      expect(JSON.stringify([signer, rest])).not.toContain("1234-pin");
      expect([rest.FLEET_CA_CONCURRENCY, rest.FLEET_CA_QUEUE, rest.FLEET_CA_WAIT_MS, rest.FLEET_CA_TIMEOUT_MS]).toEqual(
        [...[1, 64, 10_000, 10_000]],
      );
    });

    it("by a command, its arguments a JSON list", () => {
      const FLEET_CA_COMMAND = '["kms", "sign", "{in}"]';
      const env = { ...good(), FLEET_CA_KEY_FILE: undefined, FLEET_CA_SIGNER: "command", FLEET_CA_COMMAND };
      expect(readSettings(env).signer).toEqual({
        ...{ kind: "command", command: ["kms", "sign", "{in}"], input: "digest", pinFile: undefined },
      });
    });

    it.each(["kms sign", '"kms"', '["a\\u0000b"]', "[]", "[1]", '[""]', '{"a":1}'])(
      "%s is no command",
      (FLEET_CA_COMMAND) => {
        expect(refused({ FLEET_CA_KEY_FILE: undefined, FLEET_CA_SIGNER: "command", FLEET_CA_COMMAND })).toContain(
          "FLEET_CA_COMMAND: is not a JSON list of texts",
        );
      },
    );

    it("every missing and every strange setting of a kind at once", () => {
      expect(refused({ FLEET_CA_SIGNER: "pkcs11", FLEET_CA_COMMAND_INPUT: "tbs" }).split("\n").slice(1)).toEqual([
        "  FLEET_CA_PKCS11_MODULE: is missing, and FLEET_CA_SIGNER=pkcs11 needs it",
        "  FLEET_CA_PKCS11_TOKEN: is missing, and FLEET_CA_SIGNER=pkcs11 needs it",
        "  FLEET_CA_PIN_FILE: is missing, and FLEET_CA_SIGNER=pkcs11 needs it",
        "  FLEET_CA_KEY_FILE: is for FLEET_CA_SIGNER=key-file, which is pkcs11",
        "  FLEET_CA_COMMAND_INPUT: is for FLEET_CA_SIGNER=command, which is pkcs11",
        "  FLEET_CA_PKCS11_KEY_LABEL or FLEET_CA_PKCS11_KEY_ID: one is needed",
      ]);
      expect(refused({ FLEET_CA_KEY_FILE: undefined })).toContain("FLEET_CA_KEY_FILE: is missing");
      expect(refused({ ...pkcs11(), FLEET_CA_PKCS11_KEY_ID: "9" })).toContain("FLEET_CA_PKCS11_KEY_ID: is not hex");
      expect(refused({ FLEET_CA_SIGNER: "hsm" }).split("\n")).toHaveLength(2);
    });
  });
});

describe("files of secrets", () => {
  it.each([
    [0o600, true, null],
    [0o400, false, null],
    [0o440, true, null],
    [0o640, true, null],
    [0o640, false, "its group, which is none of fleetd's, may read it"],
    [0o660, true, "its group may write it"],
    [0o604, true, "everybody on this machine may use it"],
    [0o644, true, "everybody on this machine may use it"],
  ])("of mode %o, in a group of fleetd's: %s", (mode, ownGroup, words) => {
    const path = file("guarded", SECRET);
    chmodSync(path, mode);
    const { gid } = statSync(path);
    const told = looseFiles({ FLEET_CA_PIN_FILE: path, FLEET_CLASSES: path, OTHER_TOKEN_FILE: path }, [
      ownGroup ? gid : gid + 1,
    ]);
    const octal = mode.toString(8).padStart(4, "0");
    expect(told).toEqual(words === null ? [] : [`FLEET_CA_PIN_FILE: ${path} has mode ${octal}: ${words}`]);
  });

  it("are known by the names of their settings", () => {
    expect(Object.keys(settingsSchema.shape).filter(namesSecretFile).sort()).toEqual([
      "FLEET_ADMIN_TLS_KEY",
      "FLEET_ADMIN_TOKEN_FILE",
      "FLEET_CA_KEY_FILE",
      "FLEET_CA_PIN_FILE",
      "FLEET_CLUSTER_KUBECONFIG",
      "FLEET_DEVICE_TLS_KEY",
      "FLEET_NETBOX_TOKEN_FILE",
      "FLEET_SESSION_KEY_FILE",
      "FLEET_TALOS_SECRETS_FILE",
      "FLEET_TINKERBELL_KUBECONFIG",
      "FLEET_WEBHOOK_SECRET_FILE",
    ]);
  });
});
