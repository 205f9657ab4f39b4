import { serveSpoiled } from "../sabotage.ts";

await serveSpoiled([
  {
    file: "shared/attest/boot.ts",
    find: 'result: checks.every((check) => check.ok) ? "pass" : "fail",',
    replace: 'result: "pass",',
  },
]);
