import { join } from "node:path";
import { expect } from "vitest";
import { SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { type Answer, type Begun, Machine } from "./machine.ts";
import { type DeviceOrder, type Peers, startPeers } from "./peers.ts";

/** fleetd's attest routes, wherever they run. */
export interface Host {
  readonly url: string;
  stop(): Promise<void>;
}

/** What the suite stands in: peers, fleetd, and one TPM that every machine of the suite has in turn. */
export class Box {
  readonly peers: Peers;
  readonly host: Host;
  readonly tpm: SoftTpm;
  readonly rsa: string;
  readonly ecc: string;

  private constructor(peers: Peers, host: Host, tpm: SoftTpm, digests: readonly string[]) {
    const [rsa = "", ecc = ""] = digests;
    this.peers = peers;
    this.host = host;
    this.tpm = tpm;
    this.rsa = rsa;
    this.ecc = ecc;
  }

  static async open(startHost: (peers: Peers) => Promise<Host>): Promise<Box> {
    const peers = await startPeers();
    const host = await startHost(peers);
    const tpm = new SoftTpm(join(peers.folder, "tpm"));
    return new Box(peers, host, tpm, await tpm.ekDigests());
  }

  good() {
    const { der } = this.peers.accepted;
    return { authority: der, dbCertificates: [der], secureBoot: true };
  }

  foreign() {
    const { der } = this.peers.foreign;
    return { authority: der, dbCertificates: [der], secureBoot: true };
  }

  /** A machine that booted well, declared with both its EKs. */
  async declared(order: Partial<DeviceOrder> = {}, commandLine = "console=ttyS0") {
    const machine = new Machine(this.tpm, this.host.url);
    machine.commandLine = commandLine;
    await machine.boot(this.good());
    const { serial } = machine;
    const eks = [this.rsa, this.ecc];
    const id = await this.peers.declare({ name: `m${serial.toLowerCase()}`, serial, eks, ...order });
    return { machine, id };
  }

  async close(): Promise<void> {
    await this.host.stop();
    await this.peers.close();
  }
}

/** A session that waits for its end. */
export interface OldSession {
  readonly machine: Machine;
  readonly begun: Begun;
  readonly atMs: number;
}

/** Asserts a problem document with this code. */
export function expectCode(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body.code }, String(answer.body.detail)).toEqual({ status, code });
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.body).toMatchObject({ title: code, status, type: expect.any(String), detail: expect.any(String) });
  expect(answer.headers.get("retry-after")).toBe(status === 409 ? "30" : null);
}
