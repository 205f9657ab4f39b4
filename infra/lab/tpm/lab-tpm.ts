/** One TPM2_PCR_Extend, a digest for each bank. */
export interface PcrExtend {
  readonly pcr: number;
  readonly digests: Readonly<Record<string, Uint8Array>>;
}

/** A lab machine's TPM, as far as its power supply and its firmware see it. */
export interface LabTpm {
  readonly kind: "swtpm" | "software";
  /** SHA-256 of each EK's SubjectPublicKeyInfo, as `approved_eks` writes it: "sha256:<hex>". */
  ekDigests(): Promise<readonly string[]>;
  /** _TPM_Init, TPM2_Startup(CLEAR), then the firmware's extends. */
  powerOn(extended: readonly PcrExtend[]): Promise<void>;
  /** An orderly TPM2_Shutdown; without power nothing answers. */
  powerOff(): Promise<void>;
}
