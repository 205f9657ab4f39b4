import { pcrSelection } from "../../shared/formats/tpm2/digest.ts";
import { type Attack, good, instead, text } from "./attack.ts";
import { bothStages, goodBoot, HOOKOS_LINE, loadOptionsEvent, OS_LINE, SELECT } from "./evidence.ts";
import { BANKS, base64, hashOf, hexOf, recordLog } from "./logs.ts";

const QUOTE = "quote-invalid";
const NOT_HOOKOS = "not-hookos";
const selection = pcrSelection(BANKS.sha256.id, SELECT);
const wide = (sizeofSelect: number, ...more: number[]) => {
  const pcrSelect = new Uint8Array(sizeofSelect);
  pcrSelect.set(selection.pcrSelect.subarray(0, sizeofSelect));
  for (const [i, octet] of more.entries()) pcrSelect[i] = octet;
  return { hash: BANKS.sha256.id, pcrSelect };
};
const without = (record: Readonly<Record<string, string>>, key: string) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
/** A value under another spelling of its index. */
const respelt = (spelling: string, key = "7"): Attack => ({
  pcrs: (held) => ({ ...without(held, key), [spelling]: held[key] }),
});
const booted = (line: string, reported = line): Attack => ({ boot: goodBoot(line), line: reported });
const upper = (held: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(held).map(([pcr, value]) => [pcr, value.toUpperCase()]));

/** Quotes, PCR values and command lines, and the one answer that each gets. */
export const QUOTE_ATTACKS: Readonly<Record<string, readonly [Attack, string]>> = {
  // Selections.
  "no selection": [{ quote: { selections: [] }, select: [] }, QUOTE],
  "an empty bank": [{ quote: { selections: [{ hash: 11, pcrSelect: new Uint8Array(3) }] }, select: [] }, QUOTE],
  "the same bank twice, the second empty": [
    { quote: { selections: [selection, { hash: 11, pcrSelect: new Uint8Array(3) }] } },
    QUOTE,
  ],
  "the same bank in two halves": [
    { quote: { selections: [pcrSelection(11, SELECT.slice(0, 4)), pcrSelection(11, SELECT.slice(4))] } },
    QUOTE,
  ],
  "another bank's selection over the same values": [{ quote: { selections: [pcrSelection(12, SELECT)] } }, QUOTE],
  "SM3's selection, whose digests are as long": [{ quote: { selections: [pcrSelection(0x12, SELECT)] } }, QUOTE],
  "sizeofSelect 4, the fourth byte zero: the same PCRs": [{ quote: { selections: [wide(4)] } }, "accepted"],
  "sizeofSelect 4 with PCR 24": [{ quote: { selections: [wide(4, 0xff, 0x02, 0, 1)] } }, QUOTE],
  "sizeofSelect 2: the same PCRs": [{ quote: { selections: [wide(2)] } }, "accepted"],
  "sizeofSelect 1, without PCR 9": [{ quote: { selections: [wide(1)] }, select: SELECT.slice(0, 8) }, QUOTE],
  "sizeofSelect 0": [{ quote: { selections: [{ hash: 11, pcrSelect: new Uint8Array(0) }] }, select: [] }, QUOTE],
  "one PCR too few": [{ quote: { selections: [pcrSelection(11, SELECT.slice(1))] }, select: SELECT.slice(1) }, QUOTE],
  "one PCR too many": [{ quote: { selections: [pcrSelection(11, [...SELECT, 10])] }, select: [...SELECT, 10] }, QUOTE],
  "a magic of one's own": [{ quote: { magic: 0x46544347 } }, QUOTE],

  // PCR values.
  "upper-case hex: the same numbers": [{ pcrs: upper }, "accepted"],
  'index "07"': [respelt("07"), QUOTE],
  'index "7 "': [respelt("7 "), QUOTE],
  'index "+7"': [respelt("+7"), QUOTE],
  'index "0x7"': [respelt("0x7"), QUOTE],
  'index "7.0"': [respelt("7.0"), QUOTE],
  "index of another digit": [respelt("\uff17"), QUOTE],
  "a value under __proto__": [{ pcrs: (held) => JSON.parse(`{"__proto__":${JSON.stringify(held)}}`) }, "bad-request"],
  "__proto__ beside the values": [
    { pcrs: (held) => JSON.parse(`${JSON.stringify(held).slice(0, -1)},"__proto__":"00"}`) },
    "accepted",
  ],
  'index "constructor" beside the values': [{ pcrs: (held) => ({ ...held, constructor: "00" }) }, "accepted"],
  "a value of another bank's length": [{ pcrs: (held) => ({ ...held, "7": `${held["7"]}${"00".repeat(16)}` }) }, QUOTE],
  "the same octets, parted elsewhere between two PCRs": [
    { pcrs: (held) => ({ ...held, "0": `${held["0"]}${held["1"]?.slice(0, 2)}`, "1": held["1"]?.slice(2) }) },
    QUOTE,
  ],
  "0x before a value": [{ pcrs: (held) => ({ ...held, "7": `0x${held["7"]}` }) }, QUOTE],
  "spaces in a value": [{ pcrs: (held) => ({ ...held, "7": ` ${held["7"]} ` }) }, QUOTE],
  "a number for a value": [{ pcrs: (held) => ({ ...held, "7": 7 }) }, "bad-request"],
  "another value of a PCR that was not asked for": [
    { pcrs: (held) => ({ ...held, "10": "ab".repeat(32) }) },
    "accepted",
  ],
  "PCR 7 of zeros": [
    { boot: good.filter((one) => one.pcr !== 7) },
    "pcr-zero secure-boot-mismatch authority-not-accepted",
  ],
  "PCR 0 of zeros": [{ boot: good.filter((one) => one.pcr !== 0) }, "pcr-zero"],

  // Banks.
  "SHA-1 digests alone": [{ banks: ["sha1"], pcrs: () => recordedIn("sha256") }, QUOTE],
  "a log without the bank that was quoted": [
    { bundle: (honest) => ({ ...honest, eventLog: base64(recordLog(good, ["sha384"]).log) }) },
    "event-log-mismatch",
  ],
  "a log of SHA-1 alone, under a quote of SHA-256": [
    { bundle: (honest) => ({ ...honest, eventLog: base64(recordLog(good, ["sha1"]).log) }) },
    "event-log-mismatch",
  ],
  "a second bank whose digests are of other things: it is read nowhere": [
    {
      banks: ["sha384", "sha256"],
      boot: good.map((one) => ({ ...one, digests: { sha384: hashOf("sha384", text("lie")) } })),
    },
    "accepted",
  ],
  "a bank whose digests are of other things, beside a true one": [
    {
      banks: ["sha384", "sha256"],
      boot: good.map((one) => (one.pcr === 7 ? { ...one, digests: { sha256: hashOf("sha256", text("lie")) } } : one)),
    },
    "event-log-mismatch secure-boot-mismatch authority-not-accepted",
  ],
  "a profile of the other bank": [{ profile: bothStages({ bank: "sha384" }) }, QUOTE],

  // PCR 9: the command line.
  "the installed system's line": [booted(OS_LINE), NOT_HOOKOS],
  "a line that was not measured": [booted(OS_LINE, HOOKOS_LINE), NOT_HOOKOS],
  "the marker inside a word": [booted("xfleet_stage=hookos"), NOT_HOOKOS],
  "the marker with more behind it": [booted("fleet_stage=hookos2"), NOT_HOOKOS],
  "the marker in other letters": [booted("FLEET_STAGE=hookos"), NOT_HOOKOS],
  "the marker inside quotation marks": [booted('note="a fleet_stage=hookos b"'), NOT_HOOKOS],
  "the marker behind a mark that is never closed": [booted('note="a fleet_stage=hookos'), NOT_HOOKOS],
  "the marker behind a space that the kernel knows none of": [booted("quiet\u00a0fleet_stage=hookos"), NOT_HOOKOS],
  "the marker behind a line separator": [booted("quiet\u2028fleet_stage=hookos"), NOT_HOOKOS],
  "the marker behind a NUL, where no kernel reads on": [booted(`${OS_LINE}\0 fleet_stage=hookos`), NOT_HOOKOS],
  "a NUL at the end": [booted(`${HOOKOS_LINE}\0`), NOT_HOOKOS],
  "both stages' markers": [booted(`${OS_LINE} fleet_stage=hookos`), NOT_HOOKOS],
  "both stages' markers, as the installed system": [
    { ...booted(`${OS_LINE} fleet_stage=hookos`), purpose: "renewal" },
    "authority-not-accepted",
  ],
  "HookOS, as the installed system": [{ purpose: "renewal" }, "authority-not-accepted"],
  "the marker twice: the same word": [booted("fleet_stage=hookos fleet_stage=hookos"), "accepted"],
  "the marker behind a tab": [booted("quiet\tfleet_stage=hookos"), "accepted"],
  "a lone surrogate, measured as it stands": [booted("\ud800 fleet_stage=hookos"), "accepted"],
  "a lone surrogate for a replacement character": [
    booted("\ufffd fleet_stage=hookos", "\ud800 fleet_stage=hookos"),
    NOT_HOOKOS,
  ],
  "a letter of the upper planes, measured as UTF-16": [booted("x=\u{1f600} fleet_stage=hookos"), "accepted"],
  "the line without its NUL": [
    { boot: instead("PCR 9", { ...loadOptionsEvent(HOOKOS_LINE), hashed: utf16(HOOKOS_LINE) }) },
    NOT_HOOKOS,
  ],
  "the line in UTF-8": [
    { boot: instead("PCR 9", { ...loadOptionsEvent(HOOKOS_LINE), hashed: text(`${HOOKOS_LINE}\0`) }) },
    NOT_HOOKOS,
  ],
  "the true line second, another first": [
    { boot: instead("PCR 9", loadOptionsEvent(OS_LINE), loadOptionsEvent(HOOKOS_LINE)) },
    NOT_HOOKOS,
  ],
  "another line behind the true one: only the first is the kernel's": [
    { boot: instead("PCR 9", loadOptionsEvent(HOOKOS_LINE), loadOptionsEvent(OS_LINE)) },
    "accepted",
  ],
  "no measurement of PCR 9": [{ boot: instead("PCR 9") }, NOT_HOOKOS],
  "the first of PCR 9 logged as EV_NO_ACTION": [
    {
      boot: instead("PCR 9", loadOptionsEvent(OS_LINE), loadOptionsEvent(HOOKOS_LINE)),
      logged: instead("PCR 9", { ...loadOptionsEvent(OS_LINE), type: 3 }, loadOptionsEvent(HOOKOS_LINE)),
    },
    "event-log-mismatch",
  ],
  "PCR 9 that is not quoted": [
    {
      select: SELECT.slice(0, 8),
      bundle: (honest) => ({ ...honest, request: { bank: "sha256", select: SELECT.slice(0, 8) } }),
    },
    "event-log-mismatch not-hookos",
  ],
};

function utf16(line: string): Uint8Array {
  return new Uint8Array(Buffer.from(line, "utf16le"));
}

function recordedIn(bank: "sha256"): Readonly<Record<string, string>> {
  return Object.fromEntries(SELECT.map((pcr) => [pcr, hexOf(hashOf(bank, text(String(pcr))))]));
}
