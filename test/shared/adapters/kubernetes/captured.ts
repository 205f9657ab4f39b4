import { readFileSync } from "node:fs";
import { type JsonObject, listAt, objectOf } from "../../../../shared/adapters/kubernetes/json.ts";

/** Reads an object that a real Tinkerbell left. */
export function captured(name: string): JsonObject {
  return objectOf(JSON.parse(readFileSync(`test/vectors/tinkerbell/${name}.json`, "utf8")));
}

/** Reads a list of objects that a real Tinkerbell left. */
export function capturedItems(name: string): JsonObject[] {
  return listAt(captured(name), "items").map(objectOf);
}

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Reads an answer of a real kube-apiserver. */
export function answered(name: string): Answer {
  return JSON.parse(readFileSync(`test/vectors/kubernetes/${name}.json`, "utf8")) as Answer;
}
