import { buildGoProgram } from "../_common/go.ts";

/** Builds Tinkerbell v0.25.0 (Tink server, Tink controller, Rufio), and gives its file. @throws Error where Go is missing */
export function installTinkerbell(): Promise<string> {
  return buildGoProgram({
    name: "tinkerbell",
    module: "test/peers/tinkerbell/tinkpeer",
    target: "github.com/tinkerbell/tinkerbell/cmd/tinkerbell",
    sources: ["quamina/go.mod", "quamina/quamina.go"],
  });
}
