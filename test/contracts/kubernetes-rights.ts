import { expect, it } from "vitest";
import { manifestRights } from "../../infra/fleetctl/doctor/rights.ts";
import { textsAt } from "../../infra/lab/kubernetes/json.ts";
import { type KubernetesWorld, labWorld } from "./kubernetes-world.ts";

const FILES = { tinkerbell: "tinkerbell-rbac", cluster: "workload-rbac" } as const;

/** The lab's API, which lets fleetd do what its manifests say, and a test for its end: that they say no more than was used. */
export function labWorldOfRights(kinds: "tinkerbell" | "cluster"): {
  readonly world: () => Promise<KubernetesWorld>;
  /** @param isOurs which resources (`pods/eviction`, with their group) the suite is about */
  readonly expectAllUsed: (isOurs: (resource: string) => boolean) => void;
} {
  const uses = new Set<string>();
  return {
    async world() {
      const made = await labWorld(kinds);
      const close = async () => {
        for (const use of textsAt(await made.admin.call("GET", "/lab/uses"), "uses")) uses.add(use);
        await made.close();
      };
      return { ...made, close };
    },
    expectAllUsed: (isOurs) => {
      it(`uses every right of infra/kubernetes/${FILES[kinds]}.yaml`, () => {
        const rights = manifestRights(FILES[kinds], "tinkerbell").map(({ verb, group, resource, subresource }) => {
          const whole = `${resource}${subresource === undefined ? "" : `/${subresource}`}`;
          return { verb, what: `${whole}${group === "" ? "" : `.${group}`}` };
        });
        const ours = rights.filter(({ what }) => isOurs(what)).map(({ verb, what }) => `${verb} ${what}`);
        expect(ours.filter((right) => !uses.has(right))).toEqual([]);
        expect(ours.length).toBeGreaterThan(4);
      });
    },
  };
}
