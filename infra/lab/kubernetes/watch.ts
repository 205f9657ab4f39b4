import type { ServerResponse } from "node:http";
import { objectOf } from "./json.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Route } from "./route.ts";
import { matcher } from "./selectors.ts";
import { ApiError } from "./status.ts";

/** Answers a watch: one JSON event a line until the client goes, or `timeoutSeconds` have passed. */
export function serveWatch(store: ObjectStore, route: Route, query: URLSearchParams, response: ServerResponse): void {
  const matches = matcher(query.get("labelSelector") ?? "", query.get("fieldSelector") ?? "");
  const write = (type: string, object: unknown) => response.write(`${JSON.stringify({ type, object })}\n`);
  response.writeHead(200, { "content-type": "application/json" });
  const given = query.get("resourceVersion") ?? "";
  const fromNow = given === "" || given === "0";
  if (fromNow) for (const object of store.list(route.resource, route.namespace).filter(matches)) write("ADDED", object);
  const since = fromNow ? Number(store.resourceVersion) : Number(given);
  const stop = store.subscribe(since, ({ type, resource, object }) => {
    if (resource !== route.resource || !matches(object)) return;
    if (route.namespace !== "" && object.metadata.namespace !== route.namespace) return;
    if (route.name === "" || route.name === object.metadata.name) write(type, object);
  });
  if (stop === null) {
    const expired = new ApiError(410, "Expired", `too old resource version: ${since}`);
    write("ERROR", objectOf(expired.body));
    response.end();
    return;
  }
  const timeoutSeconds = Number(query.get("timeoutSeconds") ?? 0);
  const timer = timeoutSeconds > 0 ? setTimeout(() => response.end(), timeoutSeconds * 1000) : undefined;
  response.on("close", () => {
    stop();
    clearTimeout(timer);
  });
}
