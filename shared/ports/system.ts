/** Wall clock, milliseconds since 1970; `sleep` for leases that are renewed while a response is written. */
export interface ClockPort {
  nowMs(): number;
}

export interface EntropyPort {
  bytes(count: number): Uint8Array;
}

/** Takes evidence bundles and the SPIRE node list to where others read them; each write is whole or not at all. */
export interface FilesPort {
  writeSpireNodes(json: string): Promise<void>;
  writeEvidence(deviceName: string, atMs: number, json: string): Promise<void>;
}
