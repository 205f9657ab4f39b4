// kubepeer holds the unchanged upstream programs that a small real cluster needs, in one binary so that they share their
// packages: each argument list begins with the program's name.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/pkg/kubelet/certificate/bootstrap"
)

func run(program string, args []string) int {
	switch program {
	case "etcd":
		etcdmain.Main(append([]string{program}, args...))
		return 0
	case "kube-apiserver":
		return command(apiserver.NewAPIServerCommand(), args)
	case "kube-controller-manager":
		return command(controllers.NewControllerManagerCommand(), args)
	case "kubelet-bootstrap":
		return bootstrapKubelet(args)
	default:
		return usage()
	}
}

func command(root *cobra.Command, args []string) int {
	root.SetArgs(args)
	return cli.Run(root)
}

// What a kubelet does before it has a certificate: NODE, the kubeconfig with the bootstrap token, the kubeconfig that it
// writes, the folder of its keys.
func bootstrapKubelet(args []string) int {
	if len(args) != 4 {
		return usage()
	}
	node, token, result, keys := types.NodeName(args[0]), args[1], args[2], args[3]
	if err := bootstrap.LoadClientCert(context.Background(), result, token, keys, node); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func usage() int {
	fmt.Fprintln(os.Stderr, "usage: kubepeer etcd|kube-apiserver|kube-controller-manager|kubelet-bootstrap ARGUMENT...")
	return 64
}

func main() {
	if len(os.Args) < 2 {
		os.Exit(usage())
	}
	// etcd and klog read the process's own arguments too.
	program, args := os.Args[1], os.Args[2:]
	os.Args = append([]string{program}, args...)
	os.Exit(run(program, args))
}
