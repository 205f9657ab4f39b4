import { oneOf, struct, u32le } from "../../codec.ts";

/** The separator's value when all went well; Windows writes ff ff ff ff in its own PCRs. */
export const NORMAL_SEPARATOR = 0;

/** EV_SEPARATOR's data: normal, or the error value that firmware measures when it failed. @see TCG PFP, 3.3.2.2 */
export const EV_SEPARATOR_DATA = struct({ value: oneOf(u32le, [NORMAL_SEPARATOR, 1, 0xffffffff]) });
