import type { MiddlewareHandler } from "hono";
import { type Logger, pino } from "pino";
import type { Deps } from "./deps.ts";

/** JSON lines on stderr; stdout belongs to what a command prints. */
export function createLog(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
}

/** One line a request: method, path WITHOUT the query string (it carries install codes), status, milliseconds. */
export function requestLog(log: Deps["log"], listener: string): MiddlewareHandler {
  return async (c, next) => {
    c.set("log", log);
    const start = performance.now();
    await next();
    const ms = Math.round(performance.now() - start);
    log.info({ listener, method: c.req.method, path: c.req.path, status: c.res.status, ms }, "request");
  };
}
