import { describe, expect, it } from "vitest";
import { csrRequest, csrView } from "../../../../shared/adapters/kubernetes/cluster-credentials.ts";
import { answered } from "./captured.ts";

// SHA-256 of the SubjectPublicKeyInfo by `openssl req -pubkey | openssl pkey -pubin -outform DER | sha256sum`.
const KUBELET_KEY = "4960bdcb30d272c693d0fba0f893d36831d162be77e731e513973295f6b551d4";
const OTHER_KEY = "422795694eec8d43e7b70d21d57c818559e433f442e832527d8af96511dc81df";

describe("csrView of captured CertificateSigningRequests", () => {
  it("reads the real kubelet's", () => {
    expect(csrView(answered("csr-pending").body)).toEqual({
      name: "node-csr-TbgN43VvQxzjuKgJfxn5D6TYmagIxUCnqYezo5szQ-8",
      uid: "60c2fc45-2e66-4eff-9ced-2d0971c34117",
      resourceVersion: "209",
      createdAtMs: Date.UTC(2026, 10, 29, 19, 21, 26),
      username: "system:bootstrap:f1eed1",
      groups: ["system:bootstrappers", "system:bootstrappers:fleetd", "system:authenticated"],
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
      decision: "pending",
      request: {
        commonName: "system:node:w1",
        organizations: ["system:nodes"],
        otherSubject: false,
        hasSan: false,
        keyType: "EC",
        spkiSha256: KUBELET_KEY,
      },
    });
  });

  it.each([
    ["csr-issued", "approved"],
    ["csr-auto-approved-by-kcm", "approved"],
    ["csr-other-name-deny", "denied"],
    ["csr-extra-org-after", "failed"],
  ])("%s is %s", (name, decision) => {
    expect(csrView(answered(name).body).decision).toBe(decision);
  });

  it.each([
    ["csr-san-create", { commonName: "system:node:w1", hasSan: true }],
    ["csr-extra-org-get", { organizations: ["system:nodes", "system:masters"], hasSan: false }],
    ["csr-other-name-get", { commonName: "system:node:cp1", hasSan: false }],
  ])("%s", (name, fields) => {
    expect(csrView(answered(name).body).request).toMatchObject({ ...fields, spkiSha256: OTHER_KEY });
  });
});

describe("csrRequest", () => {
  const spec = Object(answered("csr-pending").body.spec) as { request: string };
  const pem = Buffer.from(spec.request, "base64").toString();
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
  const wrapped = (bytes: Uint8Array, label = "CERTIFICATE REQUEST") =>
    Buffer.from(
      `-----BEGIN ${label}-----\n${Buffer.from(bytes).toString("base64")}\n-----END ${label}-----\n`,
    ).toString("base64");

  it("takes the request as it was made", () => {
    expect(csrRequest(wrapped(der))?.spkiSha256).toBe(KUBELET_KEY);
  });

  it("refuses every prefix", () => {
    for (let length = 0; length < der.length; length += 1)
      expect(csrRequest(wrapped(der.subarray(0, length)))).toBeNull();
  });

  it("refuses bytes behind it, another label and two blocks", () => {
    expect(csrRequest(wrapped(Buffer.concat([der, Buffer.of(0)])))).toBeNull();
    expect(csrRequest(wrapped(der, "CERTIFICATE"))).toBeNull();
    expect(csrRequest(Buffer.from(`${pem}${pem}`).toString("base64"))).toBeNull();
    expect(csrRequest("")).toBeNull();
  });
});
