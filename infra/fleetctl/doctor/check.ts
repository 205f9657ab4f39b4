/** What one look found. */
export interface Check {
  /** What was looked at: `netbox rights`. */
  readonly name: string;
  readonly result: "ok" | "warning" | "failed";
  readonly text: string;
  /** What a person does about it; null where nothing is to be done. */
  readonly todo: string | null;
}

export function ok(name: string, text: string): Check {
  return { name, result: "ok", text, todo: null };
}

export function warning(name: string, text: string, todo: string): Check {
  return { name, result: "warning", text, todo };
}

export function failed(name: string, text: string, todo: string): Check {
  return { name, result: "failed", text, todo };
}

/** A look that cannot end otherwise than by an answer: what it throws is its failure. */
export async function looked(
  name: string,
  todo: string,
  look: () => Promise<Check | readonly Check[]>,
): Promise<Check[]> {
  try {
    return [await look()].flat();
  } catch (error) {
    return [failed(name, error instanceof Error ? error.message : "no answer", todo)];
  }
}
