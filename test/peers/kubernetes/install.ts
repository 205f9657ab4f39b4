import { buildGoProgram } from "../_common/go.ts";

const VERSION = "v1.36.3";
const STAMP = "k8s.io/component-base/version";

/** Builds etcd, kube-apiserver and kube-controller-manager as one program, and gives its file. @throws Error where Go is missing */
export function installKubernetes(): Promise<string> {
  const [major = "", minor = ""] = VERSION.slice(1).split(".");
  return buildGoProgram({
    name: "kubepeer",
    module: "test/peers/kubernetes/kubepeer",
    target: ".",
    sources: ["main.go"],
    // Without them it calls itself v0.0.0, which clients cannot read.
    variables: {
      [`${STAMP}.gitVersion`]: VERSION,
      [`${STAMP}.gitMajor`]: major,
      [`${STAMP}.gitMinor`]: minor,
    },
  });
}
