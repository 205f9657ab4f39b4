import { bytes, rest, struct, type TypeOf, u32le } from "../codec.ts";
import { ReadCursor } from "../cursor.ts";
import { EFI_GUID, GUID, guidText } from "./efi-guid.ts";

const head = struct({
  signatureType: EFI_GUID,
  signatureListSize: u32le,
  signatureHeaderSize: u32le,
  signatureSize: u32le,
});

/** EFI_SIGNATURE_DATA. @see UEFI Specification, 2.10, 32.4.1 */
export const EFI_SIGNATURE_DATA = struct({ signatureOwner: EFI_GUID, signatureData: rest });

export interface EfiSignatureList {
  readonly type: string;
  readonly signatures: readonly TypeOf<typeof EFI_SIGNATURE_DATA>[];
}

const HEAD_BYTES = 28;

/**
 * The signature lists of a db, dbx, KEK or PK, to the last byte; no byte at all is an empty database.
 * @throws FormatError
 * @see UEFI Specification, 2.10, 32.4.1
 */
export function readSignatureLists(data: Uint8Array): EfiSignatureList[] {
  const cursor = new ReadCursor(data, "EFI_SIGNATURE_LIST");
  const lists: EfiSignatureList[] = [];
  while (cursor.offset < data.length) {
    const start = cursor.offset;
    const { signatureType, signatureListSize, signatureHeaderSize, signatureSize } = head.read(cursor);
    const body = signatureListSize - HEAD_BYTES - signatureHeaderSize;
    if (body < 0 || signatureSize <= 16 || body % signatureSize !== 0) {
      throw cursor.fail("inconsistent", `${signatureListSize} bytes in entries of ${signatureSize}`, start);
    }
    cursor.take(signatureHeaderSize);
    if (body > data.length - cursor.offset) throw cursor.fail("truncated", `${body} bytes wanted`);
    const count = body / signatureSize;
    const entry = struct({ signatureOwner: EFI_GUID, signatureData: bytes(signatureSize - 16) });
    const signatures = Array.from({ length: count }, () => entry.read(cursor));
    lists.push({ type: guidText(signatureType), signatures });
  }
  return lists;
}

/** The certificates (DER) of the lists. */
export function certificatesOf(lists: readonly EfiSignatureList[]): Uint8Array[] {
  return lists
    .filter((one) => one.type === GUID.EFI_CERT_X509)
    .flatMap((one) => one.signatures.map((signature) => signature.signatureData));
}
