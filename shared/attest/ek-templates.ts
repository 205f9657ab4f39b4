import { encode } from "../formats/codec.ts";
import { TPM_ALG, TPM_ECC } from "../formats/tpm2/algorithms.ts";
import { TPMA_OBJECT, type TpmtPublic } from "../formats/tpm2/public.ts";
import { toHex } from "./hex.ts";

const POLICY_A = "837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa";
const POLICY_B_SHA256 = "ca3d0a99a2b93906f7a3342414efcfb3a385d44cd1fd459089d19b5071c0b7a0";
const POLICY_B_SHA384 =
  "b26e7d28d11a50bc53d882bcf5fd3a1a074148bb35d3b4e4cb1c0ad9bde419cacb47ba09699646150f9fc000f3f80e12";
const POLICY_B_SHA512 =
  "b8221ca69e8550a4914de3faa6a18c072cc01208073a928d5d66d59ef79e49a429c41a6b269571d57edb25fbdb1838425608b413cd616a5f6db5b6071af99bea";

interface Template {
  readonly key: number;
  readonly nameAlg: number;
  readonly aesBits: 128 | 192 | 256;
  readonly attributes: string;
  readonly policy: string;
}

/** In the low range the EK is authorised by policy alone, in the high range by a password too. */
const LOW = "000300b2";
const HIGH = "000300f2";

/**
 * The EK templates, by RSA key size or curve.
 * @see TCG EK Credential Profile for TPM Family 2.0, 2.6, annex B
 */
const TEMPLATES: readonly Template[] = [
  { key: 2048, nameAlg: TPM_ALG.SHA256, aesBits: 128, attributes: LOW, policy: POLICY_A },
  { key: TPM_ECC.NIST_P256, nameAlg: TPM_ALG.SHA256, aesBits: 128, attributes: LOW, policy: POLICY_A },
  { key: 2048, nameAlg: TPM_ALG.SHA256, aesBits: 128, attributes: HIGH, policy: POLICY_B_SHA256 },
  { key: TPM_ECC.NIST_P256, nameAlg: TPM_ALG.SHA256, aesBits: 128, attributes: HIGH, policy: POLICY_B_SHA256 },
  { key: TPM_ECC.NIST_P384, nameAlg: TPM_ALG.SHA384, aesBits: 256, attributes: HIGH, policy: POLICY_B_SHA384 },
  { key: TPM_ECC.NIST_P521, nameAlg: TPM_ALG.SHA512, aesBits: 256, attributes: HIGH, policy: POLICY_B_SHA512 },
  { key: 3072, nameAlg: TPM_ALG.SHA384, aesBits: 256, attributes: HIGH, policy: POLICY_B_SHA384 },
  { key: 4096, nameAlg: TPM_ALG.SHA384, aesBits: 256, attributes: HIGH, policy: POLICY_B_SHA384 },
];

/** Whether a public area is of one of the templates, in all but its unique field. */
export function isEkTemplate(area: TpmtPublic): boolean {
  const { parameters } = area;
  const key = "keyBits" in parameters ? parameters.keyBits : parameters.curveID;
  if ("keyBits" in parameters) {
    if (parameters.exponent !== 0 && parameters.exponent !== 65_537) return false;
    if (area.type !== TPM_ALG.RSA || area.unique.length * 8 !== key || (area.unique[0] ?? 0) < 0x80) return false;
  }
  if (parameters.scheme.scheme !== TPM_ALG.NULL || parameters.symmetric.algorithm !== TPM_ALG.AES) return false;
  const aesBits = parameters.symmetric.keyBits;
  const attributes = toHex(encode(TPMA_OBJECT, area.objectAttributes));
  const policy = toHex(area.authPolicy);
  return TEMPLATES.some(
    (one) =>
      one.key === key &&
      one.nameAlg === area.nameAlg &&
      one.aesBits === aesBits &&
      one.attributes === attributes &&
      one.policy === policy,
  );
}
