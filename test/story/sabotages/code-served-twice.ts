import { serveSpoiled } from "../sabotage.ts";

await serveSpoiled([
  {
    file: "functions/config/serve.ts",
    find: 'await world.store.settleConfig(s.device.id, s.nonce, "finish", world.settings.durations.consumedMs);',
    replace: 'await world.store.settleConfig(s.device.id, s.nonce, "release", 0);',
  },
  {
    file: "shared/fleet/plan/config-access.ts",
    find: 'if (config.state === "served" || config.state === "lost") return { answer: "refuse", code: "code-consumed" };',
    replace: 'if (config.state === "served") return { answer: "serve" };',
  },
  {
    file: "shared/fleet/plan/config-access.ts",
    find: 'if (config === null || config.state !== "unread" || isShut(config, peer)) return null;',
    replace: "if (config === null) return null;",
  },
  {
    file: "shared/fleet/plan/config-access.ts",
    find: 'due: [...record.due.filter((work) => work.do !== "drop-config"), { do: "drop-config" }],',
    replace: "due: record.due,",
  },
]);
