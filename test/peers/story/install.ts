import { installKubernetes } from "../kubernetes/install.ts";
import { installNetBox } from "../netbox/install.ts";
import { installTinkerbell } from "../tinkerbell/install.ts";

/** All that the story needs, where it runs alone. */
export async function installStory(): Promise<void> {
  await installNetBox();
  await installKubernetes();
  await installTinkerbell();
}
