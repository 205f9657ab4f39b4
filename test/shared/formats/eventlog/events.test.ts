import { createHash, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { decode, encode } from "../../../../shared/formats/codec.ts";
import { guidBytes, guidText } from "../../../../shared/formats/eventlog/efi-guid.ts";
import { certificatesOf, readSignatureLists } from "../../../../shared/formats/eventlog/efi-signature-list.ts";
import { actionText } from "../../../../shared/formats/eventlog/events/efi-action.ts";
import { UEFI_VARIABLE_DATA } from "../../../../shared/formats/eventlog/events/efi-variable.ts";
import { EV_SEPARATOR_DATA } from "../../../../shared/formats/eventlog/events/separator.ts";
import { STARTUP_LOCALITY, startupLocality } from "../../../../shared/formats/eventlog/events/startup-locality.ts";
import { readEventLog } from "../../../../shared/formats/eventlog/log.ts";
import { readSbatLevel } from "../../../../shared/formats/eventlog/sbat.ts";
import { hex, vector, vectorText } from "../../../vectors/read.ts";
import { fiveParts, refusedAs } from "../five-parts.ts";

const log = readEventLog(vector("vm/lab-sb-on/eventlog.bin"));
const variables = log.records.filter((record) => record.pcrIndex === 7 && record.untrustedType === 0x80000001);
const event = (i: number): Uint8Array => variables[i]?.untrustedData ?? new Uint8Array(0);

fiveParts("UEFI_VARIABLE_DATA", UEFI_VARIABLE_DATA, { SecureBoot: event(0), "a VM's db": event(3) });
fiveParts("StartupLocality", STARTUP_LOCALITY, { "locality 3": encode(STARTUP_LOCALITY, startupLocality(3)) });
fiveParts("EV_SEPARATOR", EV_SEPARATOR_DATA, { normal: Uint8Array.of(0, 0, 0, 0), error: Uint8Array.of(1, 0, 0, 0) });

test("every field of a variable", () => {
  const read = decode(UEFI_VARIABLE_DATA, event(0), "UEFI_VARIABLE_DATA");
  expect({ ...read, vendorGuid: guidText(read.vendorGuid) }).toEqual({
    vendorGuid: "8be4df61-93ca-11d2-aa0d-00e098032b8c",
    unicodeName: "SecureBoot",
    variableData: Uint8Array.of(1),
  });
  const names = variables.map((_, i) => decode(UEFI_VARIABLE_DATA, event(i), "").unicodeName);
  expect(names).toEqual(["SecureBoot", "PK", "KEK", "db", "dbx"]);
});

test("a name longer than any is refused before it is read", () => {
  const bytes = event(0).slice();
  bytes[23] = 0xff;
  expect(refusedAs(() => decode(UEFI_VARIABLE_DATA, bytes, ""))).toBe("out-of-bounds");
});

test("a GUID's text and its bytes", () => {
  expect(hex(guidBytes("8be4df61-93ca-11d2-aa0d-00e098032b8c"))).toBe("61dfe48bca93d211aa0d00e098032b8c");
  expect(guidText(guidBytes("d719b2cb-3d3a-4596-a3bc-dad00e67656f"))).toBe("d719b2cb-3d3a-4596-a3bc-dad00e67656f");
  expect(refusedAs(() => guidBytes("d719b2cb"))).toBe("unknown-value");
});

test("the db's signature lists hold the lab's certificate", () => {
  const { variableData } = decode(UEFI_VARIABLE_DATA, event(3), "");
  const lists = readSignatureLists(variableData);
  expect(lists.map((one) => one.type)).toEqual(["a5c059a1-94e4-4aa7-87b5-ab155c2bf072"]);
  const [certificate] = certificatesOf(lists);
  const pem = new X509Certificate(vectorText("vm/certs/lab-db.pem"));
  expect(hex(certificate)).toBe(pem.raw.toString("hex"));
});

test("signature lists cut short are refused wherever they are cut", () => {
  const { variableData } = decode(UEFI_VARIABLE_DATA, event(3), "");
  expect(readSignatureLists(new Uint8Array(0))).toEqual([]);
  for (let length = 1; length < variableData.length; length++) {
    expect(
      refusedAs(() => readSignatureLists(variableData.subarray(0, length))),
      `${length}`,
    ).toBe("truncated");
  }
  expect(refusedAs(() => readSignatureLists(Uint8Array.from([...variableData, 0])))).toBe("truncated");
  const odd = variableData.slice();
  odd[24] = 17;
  expect(refusedAs(() => readSignatureLists(odd))).toBe("inconsistent");
});

test("SbatLevel: its date and generations", () => {
  const text = new TextEncoder().encode("sbat,1,2023012900\nshim,2\ngrub,3\n");
  expect(readSbatLevel(text)).toEqual({ datestamp: "2023012900", generations: { sbat: 1, shim: 2, grub: 3 } });
  expect(refusedAs(() => readSbatLevel(new TextEncoder().encode("shim,2\n")))).toBe("truncated");
  expect(refusedAs(() => readSbatLevel(new TextEncoder().encode("sbat,x\n")))).toBe("unknown-value");
});

test("an action's text ends before a NUL", () => {
  expect(actionText(new TextEncoder().encode("UEFI Debug Mode\0"))).toBe("UEFI Debug Mode");
  expect(
    createHash("sha256")
      .update(actionText(new TextEncoder().encode("DMA Protection Disabled")))
      .digest("hex"),
  ).toMatch(/^[0-9a-f]{64}$/);
});
