import { keySigner } from "../../shared/adapters/ca/key-file.ts";
import { issueIdentity } from "../../shared/attest/issue.ts";
import { readPublic } from "../../shared/attest/keys.ts";
import { vector } from "../vectors/read.ts";
import { fakeAuthority } from "./authority.ts";

const issuer = fakeAuthority("Issuer of a session's certificates");

/** LDevID and LAK as evidence issues them, of a recorded machine's keys: for a node (a year), or for a visit. */
export function sessionCertificates(nowMs: number, lifetimeMs = 365 * 86_400_000, serial = 7) {
  const files = { keyFile: "key", chainFile: "chain" };
  return issueIdentity(keySigner(files, { key: issuer.keyPem, chain: issuer.pem }), {
    deviceName: "w1",
    chassisSerial: "SN0001",
    trustDomain: "example.org",
    approvedEks: [`sha256:${"a".repeat(64)}`],
    ldevid: readPublic(vector("vm/lab-sb-on/ldevid.pub.tpm2b")),
    lak: readPublic(vector("vm/lab-sb-on/ak.pub.tpm2b")),
    nowMs,
    lifetimeMs,
    random: (count) => new Uint8Array(count).fill(serial),
  });
}
