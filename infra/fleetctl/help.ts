import { type Command, USAGE_EXIT_CODE } from "./_command.ts";

/** What fleetctl can do. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((one) => one.name.length));
  return [
    "fleetctl: for people who run fleetd",
    "",
    "usage: fleetctl COMMAND …",
    "",
    ...commands.map((one) => `  ${one.name.padEnd(width)}  ${one.summary}`),
    "",
    "fleetctl COMMAND --help says more. A wrong call ends with exit code 64.",
  ].join("\n");
}

/** How one command is called, with its exit codes. */
export function commandHelp(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]) => {
    const left = option.type === "string" ? `--${name} ${option.placeholder ?? "TEXT"}` : `--${name}`;
    return [left, option.help] as const;
  });
  const width = Math.max(0, ...options.map(([left]) => left.length));
  const codes = { ...command.exitCodes, [USAGE_EXIT_CODE]: "a wrong call", 70: "a fault of fleetctl's own" };
  return [
    ["usage: fleetctl", command.name, command.operands, options.length > 0 ? "[OPTION…]" : ""]
      .filter(Boolean)
      .join(" "),
    "",
    command.details,
    ...(options.length > 0
      ? ["", "options:", ...options.map(([left, text]) => `  ${left.padEnd(width)}  ${text}`)]
      : []),
    "",
    "exit codes:",
    ...Object.entries(codes).map(([code, meaning]) => `  ${code.padStart(2)}  ${meaning}`),
  ].join("\n");
}
