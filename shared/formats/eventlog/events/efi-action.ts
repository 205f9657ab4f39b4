/** EV_EFI_ACTION strings of PCR 7: each says that a protection was off. @see TCG PC Client Platform Firmware Profile, 10.4.4 */
export const PCR7_ACTIONS = ["UEFI Debug Mode", "DMA Protection Disabled"] as const;

/** An action's text: ASCII, with the terminating NUL that some firmware measures cut. */
export function actionText(data: Uint8Array): string {
  const end = data[data.length - 1] === 0 ? data.length - 1 : data.length;
  return String.fromCharCode(...data.subarray(0, Math.min(end, 256)));
}
