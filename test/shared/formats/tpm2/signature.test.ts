import { createPublicKey, verify } from "node:crypto";
import { expect, test } from "vitest";
import { decode } from "../../../../shared/formats/codec.ts";
import { TPM2B_ENCRYPTED_SECRET, TPM2B_ID_OBJECT } from "../../../../shared/formats/tpm2/credential.ts";
import {
  pcrSelection,
  selectedPcrs,
  selectionText,
  TPML_PCR_SELECTION,
} from "../../../../shared/formats/tpm2/digest.ts";
import { TPMT_SIGNATURE } from "../../../../shared/formats/tpm2/signature.ts";
import { hex, vector, vectorJson, vectorText } from "../../../vectors/read.ts";
import { fiveParts, refusedAs } from "../five-parts.ts";

const rsa = vector("vm/lab-sb-on/quote.sig");
const ecc = new Uint8Array(
  Buffer.from(vectorJson<{ signature: string }>("attestations/ok-rhel8-gce-ecc.json").signature, "base64"),
);
// What tpm2_makecredential wrote, behind its head of eight bytes.
const blob = Buffer.from(
  vectorJson<{ tpm2ToolsCredentialBlob: string }>("tpmcrypto/makecredential-ecc.json").tpm2ToolsCredentialBlob,
  "base64",
);
const idObject = new Uint8Array(blob.subarray(8, 8 + 2 + 68));
const secret = new Uint8Array(blob.subarray(8 + 2 + 68));

fiveParts("TPMT_SIGNATURE", TPMT_SIGNATURE, { "an RSASSA quote": rsa, "an ECDSA quote": ecc });
fiveParts("TPM2B_ID_OBJECT", TPM2B_ID_OBJECT, { tpm2_makecredential: idObject });
fiveParts("TPM2B_ENCRYPTED_SECRET", TPM2B_ENCRYPTED_SECRET, { tpm2_makecredential: secret });
fiveParts("TPML_PCR_SELECTION", TPML_PCR_SELECTION, {
  "two banks": Uint8Array.from([0, 0, 0, 2, 0, 0x0b, 3, 0x83, 0, 0x80, 0, 4, 3, 0, 0, 0]),
});

test("the fields of an RSASSA signature are what openssl verifies", () => {
  const read = decode(TPMT_SIGNATURE, rsa, "TPMT_SIGNATURE");
  if (read.sigAlg !== 0x0014) throw new Error("no RSASSA signature");
  expect(read.hash).toBe(0x000b);
  const key = createPublicKey(vectorText("vm/lab-sb-on/ak.pub.pem"));
  expect(verify("sha256", vector("vm/lab-sb-on/quote.msg"), key, read.sig)).toBe(true);
});

test("the fields of an ECDSA signature", () => {
  const read = decode(TPMT_SIGNATURE, ecc, "TPMT_SIGNATURE");
  if (read.sigAlg !== 0x0018) throw new Error("no ECDSA signature");
  expect([read.hash, read.signatureR.length, read.signatureS.length]).toEqual([0x000b, 32, 32]);
  expect(hex(read.signatureS)).toBe(hex(ecc.subarray(-32)));
});

test("another signature scheme is refused", () => {
  const bytes = rsa.slice();
  bytes[1] = 0x1a;
  expect(refusedAs(() => decode(TPMT_SIGNATURE, bytes, "TPMT_SIGNATURE"))).toBe("unknown-value");
});

test("the fields of an identity object", () => {
  const read = decode(TPM2B_ID_OBJECT, idObject, "TPM2B_ID_OBJECT");
  expect([read.integrityHMAC.length, read.encIdentity.length]).toEqual([32, 34]);
  expect(hex(read.encIdentity)).toBe(hex(idObject.subarray(-34)));
});

test("a selection is bits of its bytes, lowest first", () => {
  const [first, second] = decode(
    TPML_PCR_SELECTION,
    Uint8Array.from([0, 0, 0, 2, 0, 0x0b, 3, 0x83, 0, 0x80, 0, 4, 3, 0, 0, 0]),
    "",
  );
  expect(first && selectedPcrs(first)).toEqual([0, 1, 7, 23]);
  expect(second && selectedPcrs(second)).toEqual([]);
  expect(hex(pcrSelection(0x0b, [0, 1, 7, 23]).pcrSelect)).toBe("830080");
  expect(selectionText([pcrSelection(0x0b, [0, 7]), pcrSelection(0x04, [])])).toBe("sha256:0,7 sha1:none");
  expect(refusedAs(() => pcrSelection(0x0b, [24]))).toBe("out-of-bounds");
});
