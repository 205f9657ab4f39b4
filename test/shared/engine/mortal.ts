import type { World } from "../../../shared/engine/world.ts";

/** The process died; nothing of it goes on. No PortError: nobody may handle it. */
export class Killed extends Error {}

type Port = "netbox" | "bootPlane" | "cluster" | "records" | "store" | "files";

/** A world whose process dies at its n-th call of a port, before the call or after it was done. */
export class Mortal {
  readonly world: World;
  calls = 0;
  #dead = false;
  readonly #at: number;
  readonly #after: boolean;

  constructor(world: World, at: number, after: boolean) {
    this.#at = at;
    this.#after = after;
    const port = <T extends object>(inner: T): T =>
      new Proxy(inner, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function"
            ? (...args: unknown[]) => this.#call(() => value.apply(target, args))
            : value;
        },
      });
    const ports: readonly Port[] = ["netbox", "bootPlane", "cluster", "records", "store", "files"];
    this.world = { ...world, ...Object.fromEntries(ports.map((name) => [name, port(world[name])])) };
  }

  get died(): boolean {
    return this.#dead;
  }

  async #call(work: () => unknown): Promise<unknown> {
    if (this.#dead) throw new Killed();
    this.calls++;
    const last = this.calls === this.#at;
    if (last && !this.#after) {
      this.#dead = true;
      throw new Killed();
    }
    const answer = await work();
    if (last) {
      this.#dead = true;
      throw new Killed();
    }
    return answer;
  }
}
