/** Texts that git owns: classes, class inputs, profiles, Talos secrets, EK pins. Read again when they change. */
export interface PolicyPort {
  /** The last set that validated; `problem` is set while a newer one on disk does not. */
  current(): Promise<PolicyTexts>;
}

export interface PolicyTexts {
  /** FLEET_CLASSES, parsed JSON. */
  readonly classes: unknown;
  /** FLEET_CLASS_INPUTS, parsed JSON, or null. */
  readonly classInputs: unknown;
  /** FLEET_EK_PINS, parsed JSON, or null. */
  readonly ekPins: unknown;
  /** FLEET_PROFILES: file name → parsed JSON, each named PEM's text in place (`pem`), its name beside it (`pemFile`). */
  readonly profiles: Readonly<Record<string, unknown>>;
  /** FLEET_EK_ROOTS: manufacturers' certificates, DER; absent where none are given. */
  readonly ekRoots?: readonly Uint8Array[];
  /** FLEET_TALOS_SECRETS_FILE, parsed YAML, or null. */
  readonly talosSecrets: unknown;
  /** Why the files on disk now are not what is given here; absent while they are. */
  readonly problem?: string;
}
