import type { World } from "../../../shared/engine/world.ts";

/** The same world, and how often each method of a port was called. */
export function counted(inner: World): { readonly world: World; readonly made: Record<string, number> } {
  const made: Record<string, number> = {};
  const port = <T extends object>(name: string, target: T): T =>
    new Proxy(target, {
      get(of, key) {
        const value: unknown = Reflect.get(of, key);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const call = `${name}.${String(key)}`;
          made[call] = (made[call] ?? 0) + 1;
          return value.apply(of, args);
        };
      },
    });
  const { netbox, bootPlane, cluster, records, store, files } = inner;
  const world = {
    ...inner,
    netbox: port("netbox", netbox),
    bootPlane: port("bootPlane", bootPlane),
    cluster: port("cluster", cluster),
    records: port("records", records),
    store: port("store", store),
    files: port("files", files),
  };
  return { world, made };
}
