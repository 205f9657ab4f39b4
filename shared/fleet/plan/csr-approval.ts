import { type CsrView, KUBELET_SIGNER } from "../cluster.ts";
import { nodeName } from "../installed-name.ts";
import type { DeviceRecord } from "../record.ts";
import { asServed } from "./config-access.ts";
import type { Draft } from "./draft.ts";
import { withCause } from "./quarantine.ts";

/** Why a CSR of the node's own token is not approved, or null where it fits to the letter (spec/30, "Workload cluster"). */
export function csrFault(csr: CsrView, node: string): string | null {
  const { request } = csr;
  if (csr.signerName !== KUBELET_SIGNER) return "its signer is another";
  if (request === null) return "its request cannot be read";
  if (request.commonName !== `system:node:${node}`) return `it names ${request.commonName}, not this node`;
  if (request.organizations.join() !== "system:nodes" || request.otherSubject) return "its subject is not a kubelet's";
  if (request.hasSan) return "it asks for subject alternative names";
  const allowed =
    request.keyType === "RSA"
      ? ["client auth", "digital signature", "key encipherment"]
      : ["client auth", "digital signature"];
  const usages = [...csr.usages].sort();
  const needed = ["client auth", "digital signature"];
  if (!needed.every((u) => usages.includes(u)) || !usages.every((u) => allowed.includes(u)))
    return "its usages are not a kubelet's client usages";
  return null;
}

function tokenUser(id: string): string {
  return `system:bootstrap:${id}`;
}

/** Strangers' CSRs that name this node: left alone, and said once, however many there are. */
function foreign(d: Draft, csrs: readonly CsrView[], token: DeviceRecord["token"]): void {
  const name = `system:node:${nodeName(d.o.device, d.record)}`;
  const own = token === null ? null : tokenUser(token.id);
  const [stranger] = csrs
    .filter((c) => c.request?.commonName === name && c.username !== own && c.username !== name)
    .filter((c) => c.decision === "pending")
    .sort((a, b) => (a.username < b.username ? -1 : 1));
  if (stranger === undefined) return;
  const text = `a CSR for this node came from ${stranger.username}, which is not its own token: left alone`;
  d.condition("CsrRefused", "csr-foreign", text, token?.id ?? "");
}

/**
 * Row 14: a CSR made with the run's token says that its configuration was read, though the response broke at its end or
 * nobody could say how it ended: the token's value is nowhere else.
 * @see spec/30-reconcile.md "Requests" (end of a run)
 */
export function readByCsr(d: Draft): void {
  const { config, token, run } = d.record;
  if (config === null || token === null || config.run !== run?.name) return;
  if (config.state !== "lost" && !(config.state === "unread" && config.peer !== null)) return;
  if (d.o.device.status !== "planned") return;
  const csr = d.o.cluster?.csrs.find((c) => c.username === tokenUser(token.id));
  if (csr === undefined) return;
  d.set(asServed(d.record, config, d.o.nowMs));
  d.say("info", "config-read", `CSR ${csr.name} was made with its token: its configuration was read`, config.run);
}

/**
 * Approves the node's first kubelet CSR and ends its token a minute later. Name and key hash are in the record before
 * the approval; a second key for the token ends it.
 */
export function approveCsrs(d: Draft): void {
  const { o } = d;
  if (o.cluster === null) return;
  const { token, config } = d.record;
  const live = token !== null && token.deletedAtMs === null;
  foreign(d, o.cluster.csrs, token);
  if (o.cluster.othersApprove && live)
    d.condition(
      "OthersApprove",
      "others-approve",
      "the cluster approves CSRs of fleetd's tokens by itself: the check on them is void",
    );
  if (!live || config?.state !== "served") return;
  if (config.refetchedAtMs !== null) return contended(d);
  const node = nodeName(o.device, d.record);
  const own = o.cluster.csrs.filter((c) => c.username === tokenUser(token.id));
  const fits = own.filter((c) => csrFault(c, node) === null);
  const misfit = own.find((c) => c.decision === "pending" && csrFault(c, node) !== null);
  if (misfit !== undefined)
    d.condition(
      "CsrRefused",
      "csr-refused",
      `CSR ${misfit.name} of this node's token is left alone: ${csrFault(misfit, node)}`,
      token.id,
    );
  const first = token.csr;
  if (first === null) {
    const csr = [...fits].sort((a, b) => a.createdAtMs - b.createdAtMs).find((c) => c.decision === "pending");
    if (csr === undefined || csr.request === null) return approvedByOthers(d, fits);
    const spkiSha256 = csr.request.spkiSha256;
    if (fits.some((c) => c.request?.spkiSha256 !== spkiSha256)) return contended(d);
    d.set({ token: { ...token, csr: { name: csr.name, spkiSha256, approvedAtMs: o.nowMs } } });
    d.say("success", "csr-approved", `kubelet CSR ${csr.name} approved for node ${node}`, token.id);
    d.effect({ do: "approve-csr", csr, message: `fleetd: first kubelet certificate of ${node}` });
    return;
  }
  if (own.some((c) => c.request !== null && c.request.spkiSha256 !== first.spkiSha256)) return contended(d);
  const again = fits.find((c) => c.name === first.name && c.decision === "pending");
  if (again !== undefined && o.nowMs - first.approvedAtMs < o.settings.durations.tokenAfterApprovalMs)
    d.effect({ do: "approve-csr", csr: again, message: `fleetd: first kubelet certificate of ${node}` });
}

/** Somebody else was faster: said, and the token ends as if it had been fleetd's own approval. */
function approvedByOthers(d: Draft, fits: readonly CsrView[]): void {
  const { token } = d.record;
  const csr = fits.find((c) => c.decision === "approved");
  if (token === null || csr === undefined || csr.request === null) return;
  const { spkiSha256 } = csr.request;
  d.set({ token: { ...token, csr: { name: csr.name, spkiSha256, approvedAtMs: d.o.nowMs } } });
  d.say("danger", "csr-approved-by-others", `kubelet CSR ${csr.name} was approved, and not by fleetd`, token.id);
}

/** A second key for the token, or its configuration asked for again: token gone, Node cordoned and tainted, danger line. */
export function contended(d: Draft): void {
  const { token } = d.record;
  if (token === null) return;
  d.set({
    token: { ...token, contended: true },
    quarantine: withCause(d.record.quarantine, { by: "intake", sinceMs: d.o.nowMs, node: null }),
  });
  d.owe({ do: "delete-token", id: token.id });
}

/** Tokens end: a minute after the approval, at their expiry, or when owed; also while NetBox is down. */
export function endTokens(d: Draft): void {
  const { o } = d;
  const { token } = d.record;
  if (token === null) return;
  if (token.contended)
    d.condition(
      "BootstrapTokenContended",
      "second-user",
      "a second key, or a second reader of its configuration, while this node's token lived: it is deleted, the node cordoned; request provision",
      token.id,
    );
  const id = overdueToken(d.record, o.nowMs, o.settings.durations.tokenAfterApprovalMs);
  if (id !== null) d.owe({ do: "delete-token", id });
}

/** The id of a live token that is past its minute or its expiry, or null. */
export function overdueToken(record: DeviceRecord, nowMs: number, afterApprovalMs: number): string | null {
  const { token } = record;
  if (token === null || token.deletedAtMs !== null) return null;
  const approved = token.csr !== null && nowMs - token.csr.approvedAtMs >= afterApprovalMs;
  const expired = token.expiresAtMs !== null && nowMs >= token.expiresAtMs;
  return approved || expired ? token.id : null;
}

/** The record once its token is gone from the cluster. */
export function tokenDeleted(id: string, nowMs: number) {
  return (record: DeviceRecord): DeviceRecord | null =>
    record.token?.id === id ? { ...record, token: { ...record.token, deletedAtMs: nowMs } } : null;
}
