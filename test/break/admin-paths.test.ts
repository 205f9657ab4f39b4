import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN, AdminWorld } from "../functions/admin-world.ts";

let world: AdminWorld;
beforeAll(async () => {
  world = await AdminWorld.start();
});
afterAll(() => world.close());

const PATHS = [
  "/devices",
  "/devices/",
  "//devices",
  "/./devices",
  "/x/../devices",
  "/%64evices",
  "/DEVICES",
  "/devices%2f",
  "/devices;a=b",
  "/devices?a=/webhooks/netbox",
  "/devices/w1",
  "/webhooks/netbox/../../devices",
  "/webhooks/netbox/%2e%2e/%2e%2e/devices",
  "http://127.0.0.1/devices",
  "/spire-nodes.json",
  "/claims",
  "/reconcile",
  "/devices/w1/adopt",
  "/devices/w1%2fadopt",
  "/renew/v1/../../devices/w1/adopt",
  "/renew/v1/begin/../../../devices",
];

it.each(PATHS)("%s is closed to everybody without the token, by every method", async (path) => {
  for (const method of ["GET", "HEAD", "POST", "OPTIONS", "PUT"]) {
    const got = await world.ask("admin", method, path, { token: null, headers: { "content-length": "0" } });
    expect([401, 404], `${method} ${path}: ${got.status}`).toContain(got.status);
    expect(got.text).not.toContain("SN0001");
  }
});

it.each(["device", "metric"] as const)(
  "the %s listener has none of the admin's routes, token or not",
  async (listener) => {
    for (const path of [
      "/devices",
      "/devices/w1",
      "/claims",
      "/spire-nodes.json",
      "/reconcile",
      "/webhooks/netbox",
      "/renew/v1/begin",
    ])
      for (const method of ["GET", "POST"]) {
        const got = await world.ask(listener, method, path, { token: ADMIN_TOKEN, headers: { "content-length": "0" } });
        expect(got.status, `${method} ${path}`).toBe(404);
      }
  },
);
