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
  /** What was written last, by this process or another; null where that is missing, an empty list where none is kept. */
  readSpireNodes(): Promise<string | null>;
  writeEvidence(deviceName: string, atMs: number, json: string): Promise<void>;
}
