import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

/** One right of the manifests, as a SelfSubjectAccessReview asks for it. */
export interface KubernetesRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Absent for what has no namespace, and for all of them. */
  readonly namespace?: string;
  readonly name?: string;
}

const rule = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
});
const role = z.object({
  kind: z.enum(["Role", "ClusterRole"]),
  metadata: z.object({ namespace: z.string().optional() }),
  rules: z.array(rule),
});

/** The rights of infra/kubernetes/<file>; `tinkerbell` is the manifests' name for the namespace of the settings. */
export function manifestRights(
  file: "tinkerbell-rbac" | "workload-rbac",
  tinkerbellNamespace: string,
): KubernetesRight[] {
  const text = readFileSync(new URL(`../../kubernetes/${file}.yaml`, import.meta.url), "utf8");
  return parseAllDocuments(text).flatMap((document) => {
    const read = role.safeParse(document.toJS());
    return read.success ? rightsOf(read.data, tinkerbellNamespace) : [];
  });
}

function rightsOf({ metadata, rules }: z.output<typeof role>, tinkerbellNamespace: string): KubernetesRight[] {
  const namespace = metadata.namespace === "tinkerbell" ? tinkerbellNamespace : metadata.namespace;
  return rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [undefined] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((whole) =>
        verbs.flatMap((verb) =>
          resourceNames.map((name) => {
            const [resource = "", subresource] = whole.split("/");
            return {
              verb,
              group,
              resource,
              ...(subresource !== undefined && { subresource }),
              ...(namespace !== undefined && { namespace }),
              ...(name !== undefined && { name }),
            };
          }),
        ),
      ),
    ),
  );
}

/** `create pods/eviction`, with its group and namespace. */
export function rightText({ verb, group, resource, subresource, namespace, name }: KubernetesRight): string {
  const what = `${resource}${subresource === undefined ? "" : `/${subresource}`}${group === "" ? "" : `.${group}`}`;
  return `${verb} ${what}${name === undefined ? "" : ` ${name}`}${namespace === undefined ? "" : ` in ${namespace}`}`;
}
