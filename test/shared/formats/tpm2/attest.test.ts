import { expect, test } from "vitest";
import { decode } from "../../../../shared/formats/codec.ts";
import { TPMS_ATTEST } from "../../../../shared/formats/tpm2/attest.ts";
import { selectedPcrs } from "../../../../shared/formats/tpm2/digest.ts";
import { hex, vector, vectorJson } from "../../../vectors/read.ts";
import { fiveParts, refusedAs } from "../five-parts.ts";

const quote = vector("vm/lab-sb-on/quote.msg");
const certify = vector("vm/lab-sb-on/certify.msg");

fiveParts("TPMS_ATTEST", TPMS_ATTEST, { "a VM's quote": quote, "a VM's certify": certify });

interface VmManifest {
  sets: { name: string; expect: { quote: Record<string, unknown>; ak_name: string; nonce: string } }[];
}

test("every field of a quote is what tpm2_print said of it", () => {
  const expected = vectorJson<VmManifest>("vm/manifest.json").sets.find((set) => set.name === "lab-sb-on")?.expect
    .quote;
  const read = decode(TPMS_ATTEST, quote, "TPMS_ATTEST");
  if (read.type !== 0x8018) throw new Error("no quote");
  expect(read.magic).toBe(0xff544347);
  expect({
    extra_data: hex(read.extraData),
    clock: Number(read.clockInfo.clock),
    reset_count: read.clockInfo.resetCount,
    restart_count: read.clockInfo.restartCount,
    safe: read.clockInfo.safe,
    firmware: read.firmwareVersion.toString(16).padStart(16, "0"),
    selection: read.attested.pcrSelect.map((one) => `sha256:${selectedPcrs(one).join(",")}`).join(),
    qualified_signer: hex(read.qualifiedSigner),
  }).toEqual(expected);
  expect(read.attested.pcrSelect.map((one) => one.hash)).toEqual([0x000b]);
  expect(hex(read.attested.pcrDigest)).toBe(hex(quote.subarray(-32)));
});

test("a quote of three banks keeps the selection's order", () => {
  const recorded = vectorJson<{ quote: string }>("attestations/real-ludmilla.json");
  const read = decode(TPMS_ATTEST, Buffer.from(recorded.quote, "base64"), "TPMS_ATTEST");
  if (read.type !== 0x8018) throw new Error("no quote");
  expect(read.attested.pcrSelect.map((one) => one.hash)).toEqual([0x000b, 0x000c, 0x0004]);
});

test("a certify names the certified key and where it hangs", () => {
  const read = decode(TPMS_ATTEST, certify, "TPMS_ATTEST");
  if (read.type !== 0x8017) throw new Error("no certify");
  expect(hex(read.extraData)).toBe("00ff55aa");
  expect(read.attested.name.length).toBe(34);
  expect(hex(read.attested.qualifiedName)).toBe(hex(certify.subarray(-34)));
});

test("another type of statement, another value of safe and an unknown hash are refused", () => {
  const changed = (at: number, octet: number): Uint8Array => quote.map((old, i) => (i === at ? octet : old));
  const read = (bytes: Uint8Array) => refusedAs(() => decode(TPMS_ATTEST, bytes, "TPMS_ATTEST"));
  expect(read(changed(5, 0x1a))).toBe("unknown-value");
  const safe = 4 + 2 + 2 + 34 + 2 + 20 + 16;
  expect(read(changed(safe, 2))).toBe("unknown-value");
  expect(read(changed(safe + 1 + 8 + 5, 0x99))).toBe("unknown-value");
});
