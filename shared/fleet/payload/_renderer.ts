import type { FrozenClass } from "../class.ts";

/** What a renderer is given: everything is validated, nothing is fetched. */
export interface RenderInput {
  readonly class: FrozenClass;
  readonly name: string;
  readonly serial: string;
  readonly uuid: string;
  readonly disk: { readonly device: string; readonly serial: string };
  readonly mac: string;
  /** Address with prefix length. */
  readonly address: string;
  /** Of the address's prefix in NetBox, before the class's; null: the class's. */
  readonly gateway: string | null;
  /** The node's own bootstrap token, "id.secret"; null for what joins no cluster. */
  readonly token: string | null;
  /** FLEET_TALOS_SECRETS_FILE, parsed. */
  readonly talosSecrets: unknown;
  /** Files for the running node's own renewal: name → content. */
  readonly identityFiles: Readonly<Record<string, string>>;
}

export type Rendered =
  | { readonly ok: true; readonly contentType: string; readonly body: string }
  /** `reason` names what is missing or wrong and where to mend it; it never holds a secret. */
  | { readonly ok: false; readonly reason: string };

/** One payload kind: pure, and its output is validated before it is handed out (a 200 that does not load burns the code). */
export interface Renderer {
  readonly needsToken: (cls: FrozenClass) => boolean;
  readonly render: (input: RenderInput) => Rendered;
}
