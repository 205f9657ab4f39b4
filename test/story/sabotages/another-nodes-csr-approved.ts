import { serveSpoiled } from "../sabotage.ts";

await serveSpoiled([
  {
    file: "shared/fleet/plan/csr-approval.ts",
    find: "  if (stranger === undefined) return;",
    replace:
      '  if (stranger === undefined) return;\n  d.effect({ do: "approve-csr", csr: stranger, message: "all are welcome" });',
  },
]);
