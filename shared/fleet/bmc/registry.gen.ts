// Written by infra/tools/gen.mjs from the files beside it: do not edit.
import type { BmcType } from "./_bmc.ts";
import { amt } from "./amt.ts";
import { ipmi } from "./ipmi.ts";
import { redfish } from "./redfish.ts";
import { rpc } from "./rpc.ts";

export const registry: Readonly<Record<string, BmcType>> = {
  amt: amt,
  ipmi: ipmi,
  redfish: redfish,
  rpc: rpc,
};
