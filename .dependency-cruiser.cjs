// Who may import whom (infra/docs/contributing.md has the table in words).
// room: [rooms whose values it may import, rooms whose types it may import as well]
const table = {
  formats: [[], []],
  crypto: [[], []],
  attest: [["formats", "crypto"], []],
  fleet: [[], ["attest"]],
  ports: [[], ["fleet", "attest"]],
  engine: [["fleet"], ["attest", "ports"]],
  adapters: [["formats"], ["fleet", "ports"]],
  runtime: [["adapters"], ["fleet", "ports", "attest", "engine"]],
};
const here = "^(shared|functions|test|wrangler-local|infra)/";
const at = (room) => `^shared/${room}/`;
const portError = "^shared/ports/error[.]ts$";
const packages = ["npm", "npm-dev", "npm-optional", "npm-no-pkg"];
const error = (name, from, to, comment) => ({ name, severity: "error", ...(comment ? { comment } : {}), from, to });

module.exports = {
  forbidden: [
    ...Object.entries(table).flatMap(([room, [values, types]]) => [
      error(
        `${room}-values`,
        { path: at(room) },
        {
          path: here,
          pathNot: [
            ...[room, ...values].map(at),
            ...(types.includes("ports") ? [portError] : []),
            // The table of settings is made from the limits' defaults, so that each stands once.
            ...(room === "runtime" ? ["^shared/fleet/limits[.]ts$"] : []),
          ],
          dependencyTypesNot: ["type-only"],
        },
      ),
      error(`${room}-types`, { path: at(room) }, { path: here, pathNot: [room, ...values, ...types].map(at) }),
    ]),
    error("only-wire-knows-adapters", { path: "^shared/runtime/", pathNot: "/wire[.]ts$" }, { path: at("adapters") }),
    error(
      "only-entries-wire",
      { pathNot: "^(functions/(serve|reconcile/index)[.]ts$|wrangler-local/|test/|infra/|shared/runtime/)" },
      { path: "^shared/runtime/wire[.]ts$" },
    ),
    error(
      "adapter-alone",
      { path: "^shared/adapters/([^/]+)/" },
      { path: at("adapters"), pathNot: "^shared/adapters/$1/" },
    ),
    error("function-alone", { path: "^functions/([^/]+)/" }, { path: "^functions/", pathNot: "^functions/$1/" }),
    error("functions-use-ports", { path: "^functions/" }, { path: "^(shared/adapters|test|wrangler-local|infra)/" }),
    error("functions-use-crypto-through-attest", { path: "^functions/" }, { path: at("crypto") }),
    error(
      "port-types-only",
      { path: "^functions/" },
      { path: at("ports"), pathNot: portError, dependencyTypesNot: ["type-only"] },
    ),
    error("core-has-no-node", { path: "^shared/(formats|attest|fleet|ports|engine)/" }, { dependencyTypes: ["core"] }),
    error(
      "node-crypto-in-its-rooms",
      { path: "^(shared|functions)/", pathNot: "^shared/(crypto|adapters|runtime)/" },
      { path: "^(node:)?crypto$" },
    ),
    error("core-packages", { path: "^shared/(ports|engine)/" }, { dependencyTypes: packages }),
    error("attest-packages", { path: "^shared/attest/", pathNot: "/profile[.]ts$" }, { dependencyTypes: packages }),
    error(
      "profile-and-fleet-packages",
      { path: "^shared/(attest/profile[.]ts|fleet/)" },
      { dependencyTypes: packages, pathNot: "node_modules/(zod|yaml)/" },
    ),
    error(
      "formats-packages",
      { path: "^shared/formats/" },
      { dependencyTypes: packages, pathNot: "node_modules/@peculiar/" },
    ),
    error(
      "asn1-in-its-rooms",
      { path: "^(shared|functions)/", pathNot: "^shared/formats/(der[.]ts$|x509/)" },
      { path: "node_modules/@peculiar/" },
    ),
    error(
      "client-node-in-its-rooms",
      { path: "^(shared|functions)/", pathNot: "^shared/adapters/kubernetes/" },
      { path: "node_modules/@kubernetes/" },
    ),
    error(
      "ioredis-in-redis",
      { path: "^(shared|functions)/", pathNot: "^shared/adapters/redis/" },
      { path: "node_modules/ioredis/" },
    ),
    error("hono-at-the-door", { path: "^shared/(?!runtime/)" }, { path: "node_modules/(hono|@hono)/" }),
    error("tests-are-leaves", { path: "^(shared|functions)/" }, { path: "^(test|infra)/" }),
    error(
      "lab-shares-layouts-only",
      { path: "^infra/lab/" },
      { path: "^(shared|functions)/", pathNot: ["^shared/formats/"] },
      "the lab's world never calls fleetd's code or reads its state",
    ),
    error("no-cycles", {}, { circular: true }),
    error("resolvable", {}, { couldNotResolve: true }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
