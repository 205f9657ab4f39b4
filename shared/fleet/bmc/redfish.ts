import type { BmcType } from "./_bmc.ts";

/** Redfish over HTTPS; BMCs ship self-signed certificates, and their network is the owners' management network. */
export const redfish: BmcType = () => ({
  insecureTls: true,
  providerOptions: { preferredOrder: ["gofish"], redfish: { port: 443, useBasicAuth: true } },
});
