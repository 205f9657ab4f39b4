import type { ClockPort } from "../../ports/system.ts";

/** The machine's wall clock. */
export const systemClock: ClockPort = { nowMs: () => Date.now() };
