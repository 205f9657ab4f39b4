import { serveSpoiled } from "../sabotage.ts";

await serveSpoiled([
  {
    file: "shared/fleet/plan/workflow-facts.ts",
    find: "if (succeededInOrder(workflow)) return",
    replace: "if (workflow.actions.length > 0) return",
  },
]);
