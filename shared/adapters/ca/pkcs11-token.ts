/** Where the key is. */
export interface Pkcs11Target {
  /** The module's shared library. */
  readonly module: string;
  /** CKA_LABEL of the token (CK_TOKEN_INFO.label). */
  readonly token: string;
  /** CKA_LABEL and CKA_ID (hex) of the private key; what is absent is not asked for. */
  readonly keyLabel?: string | undefined;
  readonly keyId?: string | undefined;
  readonly pinFile: string;
}

/** A private key on a token, its session open and logged in. */
export interface TokenKey {
  sign(mechanism: number, data: Uint8Array): Promise<Uint8Array>;
}

/** What is used of pkcs11js; its own types are absent where it is not installed. */
interface Cryptoki {
  load(path: string): void;
  C_Initialize(options?: { flags: number }): void;
  C_GetSlotList(tokenPresent: boolean): Buffer[];
  C_GetTokenInfo(slot: Buffer): { label: string; flags: number };
  C_OpenSession(slot: Buffer, flags: number): Buffer;
  C_Login(session: Buffer, userType: number, pin: string): void;
  C_FindObjectsInit(session: Buffer, template: { type: number; value: number | string | Buffer }[]): void;
  C_FindObjects(session: Buffer, max: number): Buffer[];
  C_FindObjectsFinal(session: Buffer): void;
  C_GetAttributeValue(session: Buffer, object: Buffer, template: { type: number }[]): { value: Buffer }[];
  C_SignInit(session: Buffer, mechanism: { mechanism: number }, key: Buffer): void;
  C_SignAsync(session: Buffer, data: Buffer, out: Buffer): Promise<Buffer>;
}

// PKCS #11 v2.40, pkcs11t.h.
const CKF_OS_LOCKING_OK = 0x2;
const CKF_SERIAL_SESSION = 0x4;
const CKF_USER_PIN_FINAL_TRY = 0x20000;
const CKF_USER_PIN_LOCKED = 0x40000;
const CKU_USER = 1;
const CKU_CONTEXT_SPECIFIC = 2;
const CKO_PRIVATE_KEY = 3;
const CKA_CLASS = 0x0;
const CKA_LABEL = 0x3;
const CKA_ID = 0x102;
const CKA_ALWAYS_AUTHENTICATE = 0x202;
const LONGEST_SIGNATURE = 1024;

/**
 * Opens the module, the token by its label and the one private key that fits.
 * @throws Error; its name is Rejected where a person must act, and `pin` is true where that person must look at the PIN
 */
export async function openKey(target: Pkcs11Target, readPin: () => string): Promise<TokenKey> {
  const cryptoki = await loadCryptoki();
  load(cryptoki, target.module);
  cryptoki.C_Initialize({ flags: CKF_OS_LOCKING_OK });
  const slot = slotOf(cryptoki, target.token);
  const session = cryptoki.C_OpenSession(slot, CKF_SERIAL_SESSION);
  const pin = readPin();
  if (pin === "") throw rejected(`${target.pinFile} holds no PIN`);
  cryptoki.C_Login(session, CKU_USER, pin);
  const key = keyOf(cryptoki, session, target);
  const eachTime = alwaysAuthenticates(cryptoki, session, key);
  return {
    sign: async (mechanism, data) => {
      cryptoki.C_SignInit(session, { mechanism }, key);
      if (eachTime) cryptoki.C_Login(session, CKU_CONTEXT_SPECIFIC, pin);
      return cryptoki.C_SignAsync(session, Buffer.from(data), Buffer.alloc(LONGEST_SIGNATURE));
    },
  };
}

function load(cryptoki: Cryptoki, module: string): void {
  try {
    cryptoki.load(module);
  } catch {
    throw rejected(`${module} is no PKCS#11 module that can be loaded here`);
  }
}

async function loadCryptoki(): Promise<Cryptoki> {
  // By a name in a variable: it is an optional package, and types and bundles must not ask for it.
  const name = "pkcs11js";
  let loaded: { default: { PKCS11: new () => Cryptoki } };
  try {
    loaded = await import(name);
  } catch {
    throw rejected("the package pkcs11js is not installed: it is built at npm ci where there is a C++ compiler");
  }
  return new loaded.default.PKCS11();
}

function slotOf(cryptoki: Cryptoki, label: string): Buffer {
  const tokens = cryptoki.C_GetSlotList(true).flatMap((slot) => {
    try {
      return [{ slot, info: cryptoki.C_GetTokenInfo(slot) }];
    } catch {
      // A card of another kind in another reader.
      return [];
    }
  });
  const fitting = tokens.filter(({ info }) => info.label.replace(/[ \0]+$/, "") === label);
  const [token] = fitting;
  if (token === undefined) throw new Error(`no token with the label ${label} is there`);
  if (fitting.length > 1) throw rejected(`${fitting.length} tokens have the label ${label}`);
  // A wrong PIN in a file would lock the token by a few restarts of fleetd.
  if ((token.info.flags & CKF_USER_PIN_LOCKED) !== 0) throw rejected("the token's PIN is locked", true);
  if ((token.info.flags & CKF_USER_PIN_FINAL_TRY) !== 0)
    throw rejected("the token has one try of its PIN left: log in once by hand", true);
  return token.slot;
}

function keyOf(cryptoki: Cryptoki, session: Buffer, { token, keyLabel, keyId }: Pkcs11Target): Buffer {
  cryptoki.C_FindObjectsInit(session, [
    { type: CKA_CLASS, value: CKO_PRIVATE_KEY },
    ...(keyLabel === undefined ? [] : [{ type: CKA_LABEL, value: keyLabel }]),
    ...(keyId === undefined ? [] : [{ type: CKA_ID, value: Buffer.from(keyId, "hex") }]),
  ]);
  const keys = cryptoki.C_FindObjects(session, 2);
  cryptoki.C_FindObjectsFinal(session);
  const [key] = keys;
  if (key === undefined) throw rejected(`the token ${token} has no such private key`);
  if (keys.length > 1) throw rejected(`several private keys of the token ${token} fit: give label and id`);
  return key;
}

/** The signature key of a PIV token asks for the PIN each time. */
function alwaysAuthenticates(cryptoki: Cryptoki, session: Buffer, key: Buffer): boolean {
  try {
    const [attribute] = cryptoki.C_GetAttributeValue(session, key, [{ type: CKA_ALWAYS_AUTHENTICATE }]);
    return attribute?.value[0] === 1;
  } catch {
    // A token that does not know the attribute does not ask.
    return false;
  }
}

function rejected(detail: string, pin = false): Error {
  return Object.assign(new Error(detail), { name: "Rejected", pin });
}
