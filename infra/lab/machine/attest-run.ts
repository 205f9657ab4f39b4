/** What an attestation is told. */
export interface AttestOptions {
  /** FLEET_ROOT. */
  readonly root: string;
  /** FLEET_ATTEST_URL: the device listener. */
  readonly url: string;
  /** FLEET_CA: a PEM file. */
  readonly caFile: string;
  readonly tries: number;
  readonly gapSeconds: number;
  /** Ends it: the machine lost power. */
  readonly signal: AbortSignal;
  /** Gets each line that it says. */
  readonly say: (line: string) => void;
}

/** Exit code of an attestation: attested, refused or waiting, cannot even try. */
export type AttestExit = 0 | 1 | 2;
