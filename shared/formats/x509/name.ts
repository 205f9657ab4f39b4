import { childrenOf, type Der, expectTag, latin1, oidText, readDer, TAG } from "../der.ts";

// The short names that RFC 4514 and common tools agree on; any other type is written by its number and the value's DER.
const shortNames: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.5": "SERIALNUMBER",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.9": "STREET",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "2.5.4.17": "POSTALCODE",
  "1.2.840.113549.1.9.1": "emailAddress",
};

const STRING_TAGS: readonly number[] = [
  TAG.UTF8_STRING,
  TAG.PRINTABLE_STRING,
  TAG.T61_STRING,
  TAG.IA5_STRING,
  TAG.BMP_STRING,
];

interface NameAttribute {
  readonly type: string;
  readonly value: Der;
}

/**
 * The attributes of a Name, one list per RDN, in the order of the bytes: a SET is read unsorted as vendors write it.
 * @throws FormatError
 */
export function readName(name: Uint8Array): NameAttribute[][] {
  const structure = "Name";
  return childrenOf(expectTag(readDer(name, structure), TAG.SEQUENCE, structure), structure).map((rdn) =>
    childrenOf(expectTag(rdn, TAG.SET, structure), structure).map((attribute) => {
      const [type, value] = childrenOf(expectTag(attribute, TAG.SEQUENCE, structure), structure);
      return {
        type: oidText(expectTag(type, TAG.OID, structure), structure),
        value: expectTag(value, value?.tag ?? 0, structure),
      };
    }),
  );
}

/**
 * A Name as text, most specific part first.
 * @throws FormatError
 * @see RFC 4514
 */
export function nameText(name: Uint8Array): string {
  return readName(name)
    .reverse()
    .map((rdn) => rdn.map((one) => attributeText(one)).join("+"))
    .join(",");
}

/** The text of a directory string, or null for another kind of value. */
export function directoryString(value: Der): string | null {
  if (!STRING_TAGS.includes(value.tag)) return null;
  if (value.tag === TAG.BMP_STRING) {
    let text = "";
    for (let i = 0; i + 1 < value.contents.length; i += 2) {
      text += String.fromCharCode((value.contents[i] ?? 0) * 256 + (value.contents[i + 1] ?? 0));
    }
    return text;
  }
  if (value.tag === TAG.UTF8_STRING) return new TextDecoder().decode(value.contents);
  return latin1(value.contents);
}

function attributeText({ type, value }: NameAttribute): string {
  const short = shortNames[type];
  const text = short === undefined ? null : directoryString(value);
  if (short === undefined || text === null) {
    return `${type}=#${Array.from(value.raw, (octet) => octet.toString(16).padStart(2, "0")).join("")}`;
  }
  const escaped = text
    .replace(/[,+"\\<>;]/g, "\\$&")
    .replace(/^[ #]/, "\\$&")
    .replace(/ $/, "\\ ");
  return `${short}=${escaped}`;
}
