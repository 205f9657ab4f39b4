import { LabClient } from "../../kubernetes/client.ts";
import type { Stage } from "../stage.ts";
import { kubeletRequest } from "../stranger.ts";

/** A worker is planned, boots HookOS, attests, is admitted, installed, configured once, and joins. */
export async function install(s: Stage): Promise<void> {
  s.teller.chapter("1. A worker is planned in NetBox and boots for the first time");
  const machine = await s.machines.add({
    name: "w1",
    serial: "LAB-0001",
    number: 11,
    port: "port11",
    diskSerial: "DISK-W1",
    withBmc: true,
  });
  const data = await s.machines.disk("w1", 1);
  const eks = machine.eks.map((digest) => ({ digest, source: "SUPPLIER:delivery note 4711" }));
  await s.owner.declare({
    name: "w1",
    serial: "LAB-0001",
    number: 11,
    switchPort: "port11",
    diskSerial: "DISK-W1",
    eks,
    withBmc: true,
  });
  s.act("w1", "declared", `the owner declares w1 as planned, with ${eks.length} EKs from the supplier's record`);
  await s.until("w1", "waits", "fleetd waits for its machine", 30, () => s.hasCondition("w1", "WaitsForMachine"));
  await s.machines.power("w1", "on", "pxe");
  s.act("w1", "power", "somebody presses the power button; the machine netboots HookOS");
  await s.until("w1", "running", "it attested and its install began", 90, async () => {
    const { run } = await s.device("w1");
    return run !== null && ["running", "ended"].includes(run.phase);
  });
  await s.owner.saveOldRow("w1");
  s.act("w1", "old-row", "meanwhile the owner saves a row of w1 that was read before fleetd wrote");
  await s.until(
    "w1",
    "served",
    "its configuration was served to the last byte",
    90,
    async () => (await s.device("w1")).config?.state === "served",
  );
  s.act("w1", "stranger-csr", "a stranger posts a CSR in the name of node w1");
  await strangersCsr(s);
  await s.until("w1", "active", "NetBox shows it active", 40, async () => (await s.owner.status("w1")) === "active");
  await s.until(
    "w1",
    "node",
    "its kubelet joined with the approved certificate",
    60,
    async () => (await s.machines.state("w1")).node === "w1",
  );
  await s.until(
    "w1",
    "token-gone",
    "its bootstrap token is deleted",
    60,
    async () => (await s.device("w1")).token?.deleted != null,
  );
  await strangerIsLeft(s);
  const secrets = await s.lab.cluster.list("/api/v1/namespaces/kube-system/secrets");
  s.check(
    "w1",
    "no-token",
    "no bootstrap token is left in the cluster",
    !secrets.some((x) => x.metadata.name.startsWith("bootstrap-token-")),
  );
  await s.until("w1", "spire", "it is listed for SPIRE", 30, async () => (await s.spireNames()).includes("w1"));
  const again = await s.machines.readConfigAgain("w1");
  s.check("w1", "second-read", `a second read with the same code is refused (${again})`, again === 410);
  await s.until("w1", "refetched", "the second read is an alarm", 30, () =>
    s.hasCondition("w1", "InstallConfigRefetched"),
  );
  const fields = (await s.owner.device("w1")).custom_fields;
  s.check("w1", "row-mended", "what the old row took away is written again", fields.attestation_verdict !== null);
  s.check("w1", "data-disk", "its data disk was not touched", (await s.machines.disk("w1", 1)).sha256 === data.sha256);
}

const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** A CSR for the node's name by an account that is not its token's: somebody has another bootstrap token. */
async function strangersCsr(s: Stage): Promise<void> {
  const secrets = "/api/v1/namespaces/kube-system/secrets";
  const [id, secret] = ["strang", "0123456789abcdef"];
  await s.lab.cluster.call("POST", secrets, {
    apiVersion: "v1",
    kind: "Secret",
    type: "bootstrap.kubernetes.io/token",
    metadata: { name: `bootstrap-token-${id}` },
    stringData: {
      "token-id": id,
      "token-secret": secret,
      "usage-bootstrap-authentication": "true",
      "auth-extra-groups": "system:bootstrappers:fleetd",
    },
  });
  const { url, caPem } = s.lab.clusterAddress;
  const stranger = new LabClient({ url, caPem, token: `${id}.${secret}` });
  await stranger.call("POST", CSRS, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "stranger-w1" },
    spec: {
      request: kubeletRequest("w1"),
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    },
  });
  stranger.close();
  await s.lab.cluster.call("DELETE", `${secrets}/bootstrap-token-${id}`);
}

async function strangerIsLeft(s: Stage): Promise<void> {
  const csr = (await s.lab.cluster.get(`${CSRS}/stranger-w1`)) as { status?: { conditions?: unknown[] } } | null;
  s.check("w1", "stranger-left", "the stranger's CSR is left alone", (csr?.status?.conditions ?? []).length === 0);
}
