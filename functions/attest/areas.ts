import { type PresentedEk, presentedEks } from "../../shared/attest/ek-binding.ts";
import { fromBase64 } from "../../shared/attest/hex.ts";
import { readPublic } from "../../shared/attest/keys.ts";
import { FormatError } from "../../shared/formats/error.ts";
import type { TpmtPublic } from "../../shared/formats/tpm2/public.ts";

interface Sent {
  readonly eks: readonly { readonly public: string; readonly certificate?: string | undefined }[];
  readonly ak: { readonly public: string };
  readonly ldevid: { readonly public: string };
}

export interface Areas {
  readonly ok: true;
  readonly presented: readonly (PresentedEk & { readonly certificate: string | null })[];
  readonly ak: TpmtPublic;
  readonly ldevid: TpmtPublic;
}

/** The public areas that begin was sent, or the field of the first that is none. */
export function readAreas(sent: Sent): Areas | { readonly ok: false; readonly field: string; readonly why: string } {
  let field = "";
  const at = <T>(name: string, text: string, read: (bytes: Uint8Array) => T): T => {
    field = name;
    return read(fromBase64(text) ?? new Uint8Array(0));
  };
  try {
    const presented = sent.eks.flatMap((ek, i) =>
      at(`eks.${i}.public`, ek.public, (bytes) => presentedEks([bytes])).map((one) => ({
        ...one,
        certificate: ek.certificate ?? null,
      })),
    );
    const ak = at("ak.public", sent.ak.public, readPublic);
    return { ok: true, presented, ak, ldevid: at("ldevid.public", sent.ldevid.public, readPublic) };
  } catch (error) {
    if (error instanceof FormatError) return { ok: false, field, why: error.message };
    throw error;
  }
}
