/** The issuer's key, wherever it lives (PEM file, PKCS#11, command): signs a TBSCertificate and decides nothing. */
export interface SignerPort {
  /** Issuer certificate first, then its chain, DER. */
  chain(): Promise<readonly Uint8Array[]>;
  /** Certificates of every issuer whose LDevIDs and LAKs are accepted, DER: the signing one first, then older ones. */
  trusted(): Promise<readonly Uint8Array[]>;
  /** The signature algorithm that `sign` makes: ecdsa-sha256, ecdsa-sha384 or rsa-sha256. */
  algorithm(): Promise<"ecdsa-sha256" | "ecdsa-sha384" | "rsa-sha256">;
  /**
   * DER signature value over the TBS bytes; it has been verified by the issuer certificate's key.
   * @throws PortError unavailable when the queue is full or the key does not answer; rejected when a person must act
   */
  sign(tbs: Uint8Array): Promise<Uint8Array>;
}
