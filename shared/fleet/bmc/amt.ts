import type { BmcType } from "./_bmc.ts";

/** Intel AMT by HTTP digest (spec/50, "BMC types"). */
export const amt: BmcType = () => ({
  port: 16992,
  insecureTls: true,
  providerOptions: { preferredOrder: ["intelamt"], intelAMT: { hostScheme: "http", port: 16992 } },
});
