/** How Rufio's Machine reaches one BMC. */
export interface BmcConnection {
  readonly port?: number;
  readonly insecureTls: boolean;
  readonly providerOptions: Readonly<Record<string, unknown>>;
}

/** One kind of BMC: the connection to the one at `host`. Its Secret is `bmc-<type>` by rule. */
export type BmcType = (host: string, about: { readonly device: string; readonly rpcPort: number }) => BmcConnection;
