import { readFileSync } from "node:fs";
import { writeKubeconfig } from "./kubeconfig.ts";
import { type LabKubernetesOptions, startLabKubernetes } from "./server.ts";

/** The options file: the server's options, and the kubeconfig files to write before it says that it is ready. */
interface ProcessOptions extends LabKubernetesOptions {
  readonly kubeconfigs?: readonly { readonly file: string; readonly token: string; readonly namespace: string }[];
}

const options: ProcessOptions = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const server = await startLabKubernetes(options);
for (const { file, token, namespace } of options.kubeconfigs ?? []) {
  writeKubeconfig(file, server.url, token, namespace, server.caPem);
}
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
process.stdout.write(`ready ${server.url}\n`);
