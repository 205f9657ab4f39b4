import type { Stage } from "../stage.ts";

interface Claims {
  readonly claims: readonly { readonly serial: string; readonly device: string | null; readonly code: string }[];
}

/** The right serial with another TPM waits as a claim; a foreign boot authority is refused and keeps its disk. */
export async function refusals(s: Stage): Promise<void> {
  s.teller.chapter("2. Two machines that fleetd does not believe");
  const real = [{ digest: `sha256:${"0".repeat(63)}1`, source: "SCAN:goods in, 2026-11-02" }];
  await s.machines.add({
    name: "impostor",
    serial: "LAB-0003",
    number: 13,
    port: "port13",
    diskSerial: "DISK-W3",
    withBmc: false,
  });
  await s.owner.declare({
    name: "w3",
    serial: "LAB-0003",
    number: 13,
    switchPort: "port13",
    diskSerial: "DISK-W3",
    eks: real,
    withBmc: false,
  });
  const foreign = await s.machines.add({
    name: "w4",
    serial: "LAB-0004",
    number: 14,
    port: "port14",
    diskSerial: "DISK-W4",
    withBmc: false,
    firmware: "foreign",
  });
  const eks = foreign.eks.map((digest) => ({ digest, source: "SCAN:goods in, 2026-11-02" }));
  await s.owner.declare({
    name: "w4",
    serial: "LAB-0004",
    number: 14,
    switchPort: "port14",
    diskSerial: "DISK-W4",
    eks,
    withBmc: false,
  });
  const before = { impostor: await s.machines.disk("impostor"), w4: await s.machines.disk("w4") };
  s.act("w3", "power", "a machine with w3's serial and another TPM netboots");
  await s.machines.power("impostor", "on", "pxe");
  s.act("w4", "power", "w4 netboots something that the operator did not sign");
  await s.machines.power("w4", "on", "pxe");
  await s.until("w3", "claim", "the impostor is shown as a claim and waits", 90, async () =>
    ((await s.admin("/claims")) as Claims).claims.some((c) => c.device === "w3" && c.code === "ek-not-approved"),
  );
  await s.until("w4", "refused", "w4 is refused with the reason", 90, async () => {
    const { verdict } = await s.device("w4");
    return verdict?.result === "fail" && verdict.codes.includes("authority-not-accepted");
  });
  await s.until("w4", "printed", "the machine prints what the server said", 40, async () =>
    (await s.machines.state("w4")).attestations.some((a) => a.lines.some((l) => l.includes("authority-not-accepted"))),
  );
  await s.machines.power("impostor", "off");
  await s.machines.power("w4", "off");
  for (const name of ["impostor", "w4"] as const)
    s.check(
      name === "impostor" ? "w3" : name,
      "disk-kept",
      "its disk has every byte that it had",
      (await s.machines.disk(name)).sha256 === before[name].sha256,
    );
  const { run } = await s.device("w4");
  s.check("w4", "no-run", "no run was started for it", run === null);
}
