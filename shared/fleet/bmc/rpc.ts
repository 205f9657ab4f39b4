import type { BmcType } from "./_bmc.ts";

/** Rufio's RPC provider: the owners' own responder on the BMC's address, one path a device. */
export const rpc: BmcType = (host, { device, rpcPort }) => ({
  insecureTls: true,
  providerOptions: { rpc: { consumerURL: `http://${host}:${rpcPort}/${device}` } },
});
