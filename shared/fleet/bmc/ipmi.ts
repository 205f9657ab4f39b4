import type { BmcType } from "./_bmc.ts";

/** IPMI 2.0 over LAN by ipmitool. */
export const ipmi: BmcType = () => ({
  port: 623,
  insecureTls: true,
  providerOptions: { preferredOrder: ["ipmitool"], ipmitool: { port: 623, cipherSuite: "17" } },
});
