// Written by infra/tools/gen.mjs from the files beside it: do not edit.
import type { Renderer } from "./_renderer.ts";
import { talos } from "./talos.ts";

export const registry: Readonly<Record<string, Renderer>> = {
  talos: talos,
};
