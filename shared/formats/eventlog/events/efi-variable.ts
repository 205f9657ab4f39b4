import { bytes, type Layout, struct, type TypeOf, u64le } from "../../codec.ts";
import { EFI_GUID } from "../efi-guid.ts";

const head = struct({ variableName: EFI_GUID, unicodeNameLength: u64le, variableDataLength: u64le });

interface UefiVariableData {
  readonly vendorGuid: Uint8Array;
  readonly unicodeName: string;
  readonly variableData: Uint8Array;
}

/** UEFI_VARIABLE_DATA. @see TCG PC Client Platform Firmware Profile, 10.2.6 */
export const UEFI_VARIABLE_DATA: Layout<UefiVariableData> = {
  read: (cursor) => {
    const start = cursor.offset;
    const { variableName, unicodeNameLength, variableDataLength }: TypeOf<typeof head> = head.read(cursor);
    const left = BigInt(cursor.end - cursor.offset);
    if (unicodeNameLength > 512n) throw cursor.fail("out-of-bounds", `name of ${unicodeNameLength} characters`, start);
    if (unicodeNameLength * 2n + variableDataLength > left) throw cursor.fail("truncated", "name and data wanted");
    cursor.enter("unicodeName");
    const name = bytes(Number(unicodeNameLength) * 2).read(cursor);
    cursor.leave();
    const unicodeName = Buffer.from(name.buffer, name.byteOffset, name.length).toString("utf16le");
    return { vendorGuid: variableName, unicodeName, variableData: cursor.take(Number(variableDataLength)) };
  },
  write: (out, value) => {
    const name = new Uint8Array(value.unicodeName.length * 2);
    for (let i = 0; i < value.unicodeName.length; i++) {
      const unit = value.unicodeName.charCodeAt(i);
      name[2 * i] = unit & 0xff;
      name[2 * i + 1] = unit >> 8;
    }
    head.write(out, {
      variableName: value.vendorGuid,
      unicodeNameLength: BigInt(value.unicodeName.length),
      variableDataLength: BigInt(value.variableData.length),
    });
    out.put(name);
    out.put(value.variableData);
  },
};
