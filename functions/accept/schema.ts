import { z } from "zod";
import { REQUEST_KINDS } from "../../shared/fleet/accepted-request.ts";

/** One device's held request, or what many devices did at once. */
export const acceptRequest = z
  .strictObject({
    device: z.string().min(1).max(64).optional(),
    /** The kind of request that is meant: another one that is held meanwhile is not accepted. */
    what: z.enum(REQUEST_KINDS).optional(),
    fleet: z.enum(["vanished", "failures"]).optional(),
  })
  .refine((ask) => (ask.device === undefined) !== (ask.fleet === undefined), "one of device and fleet is needed")
  .refine((ask) => ask.what === undefined || ask.device !== undefined, { path: ["what"], error: "goes with a device" });

const told = {
  /** The client certificate's CN, or "token". */
  by: z.string(),
  at: z.iso.datetime(),
  /** False where the same word stood already. */
  new: z.boolean(),
};

export const acceptResponse = z.union([
  z.object({ device: z.string(), what: z.enum(REQUEST_KINDS), request: z.string(), ...told }),
  z.object({ fleet: z.enum(["vanished", "failures"]), devices: z.array(z.int()), ...told }),
]);
