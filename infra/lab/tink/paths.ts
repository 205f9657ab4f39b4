/** Paths of Tinkerbell's objects in one namespace. */
export interface Paths {
  readonly hardware: string;
  readonly workflows: string;
  readonly templates: string;
  readonly machines: string;
  readonly jobs: string;
  readonly tasks: string;
  readonly secrets: string;
}

export function pathsOf(namespace: string): Paths {
  const tinkerbell = `/apis/tinkerbell.org/v1alpha1/namespaces/${namespace}`;
  const bmc = `/apis/bmc.tinkerbell.org/v1alpha1/namespaces/${namespace}`;
  return {
    hardware: `${tinkerbell}/hardware`,
    workflows: `${tinkerbell}/workflows`,
    templates: `${tinkerbell}/templates`,
    machines: `${bmc}/machines`,
    jobs: `${bmc}/jobs`,
    tasks: `${bmc}/tasks`,
    secrets: `/api/v1/namespaces/${namespace}/secrets`,
  };
}
