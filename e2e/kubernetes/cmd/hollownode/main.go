// Command hollownode runs the kubelet's own code with an in-memory container runtime: no container
// is started, but volumes, CSI plugin registration, CSINode updates and pod status are the
// kubelet's real work.
//
// It exists because the stock kubemark binary cannot be told three things: to listen on no port, to
// keep its root folder at a known path, and to leave attaching to the attach/detach controller.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	internalapi "k8s.io/cri-api/pkg/apis"
	remote "k8s.io/cri-client/pkg"
	fakecri "k8s.io/cri-client/pkg/fake"
	"k8s.io/klog/v2"
	fakecadvisor "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

// options are the command line.
type options struct {
	name, kubeconfig, root, labels, gates string
	statusPeriod                          time.Duration
}

func main() {
	var o options
	klog.InitFlags(nil)
	flag.StringVar(&o.name, "name", "", "node name")
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file")
	flag.StringVar(&o.root, "root-dir", "", "kubelet root folder; sockets are watched in its plugins_registry")
	flag.StringVar(&o.labels, "labels", "", "node labels, k=v,k=v")
	flag.StringVar(&o.gates, "feature-gates", "", "feature gates, Name=true,Name=false")
	// Attaching and detaching wait for status reports. A real kubelet sends one in 10 s.
	flag.DurationVar(&o.statusPeriod, "status-period", time.Second, "how often node status is sent")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "hollownode:", err)
		os.Exit(1)
	}
}

// run returns only if the kubelet cannot be started.
func run(ctx context.Context, o options) error {
	if o.name == "" || o.root == "" {
		return errors.New("-name and -root-dir are needed")
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	o.root = root
	if o.gates != "" {
		if err := utilfeature.DefaultMutableFeatureGate.Set(o.gates); err != nil {
			return err
		}
	}
	client, heartbeat, err := clients(o.kubeconfig)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(staticPods(o.root), 0o750); err != nil {
		return err
	}
	runtime, images, err := containerRuntime(ctx, o.root)
	if err != nil {
		return err
	}
	node := hollowKubelet(o, client, heartbeat, runtime, images)
	node.Run(ctx)
	return nil
}

// clients returns one for the kubelet's work and one for its status reports, which must not wait
// for the other's quota.
func clients(kubeconfig string) (client, heartbeat *kubernetes.Clientset, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	config.UserAgent, config.QPS, config.Burst = "hollownode", 50, 100
	if client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, nil, err
	}
	beat := *config
	beat.QPS, beat.Timeout = -1, 10*time.Second
	heartbeat, err = kubernetes.NewForConfig(&beat)
	return client, heartbeat, err
}

// containerRuntime starts the runtime that lives in memory; the kubelet reaches it over a socket.
func containerRuntime(ctx context.Context, root string) (internalapi.RuntimeService, internalapi.ImageManagerService, error) {
	socket := "unix://" + filepath.Join(root, "cri.sock")
	fake := fakecri.NewFakeRemoteRuntime()
	if err := fake.Start(socket); err != nil {
		return nil, nil, err
	}
	runtime, err := remote.NewRemoteRuntimeServiceBuilder().
		WithEndpoint(socket).WithConnectionTimeout(15 * time.Second).Build(ctx)
	return runtime, fake.ImageService, err
}

func hollowKubelet(o options, client, heartbeat *kubernetes.Clientset, runtime internalapi.RuntimeService, images internalapi.ImageManagerService) *kubemark.HollowKubelet {
	labels := map[string]string{}
	for _, label := range strings.Split(o.labels, ",") {
		if key, value, ok := strings.Cut(label, "="); ok {
			labels[key] = value
		}
	}
	flags, config := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName: o.name, MaxPods: 110, NodeLabels: labels,
	})
	os.RemoveAll(flags.RootDirectory) // a scratch folder that the call above has made
	flags.RootDirectory = o.root
	config.StaticPodPath = staticPods(o.root)
	config.PodLogsDir = filepath.Join(o.root, "pod-logs")
	config.EnableServer = false
	config.EnableControllerAttachDetach = true
	config.NodeStatusUpdateFrequency.Duration = o.statusPeriod

	node := kubemark.NewHollowKubelet(flags, config, client, heartbeat,
		&fakecadvisor.Fake{NodeName: o.name}, images, runtime, cm.NewStubContainerManager())
	// The hollow kubelet's fake probe manager calls every container ready, even one that waits for
	// its volumes; nil means the kubelet's own.
	node.KubeletDeps.ProbeManager = nil
	// A kubelet that records events also watches the kernel's log, and does not start without.
	if canRead("/dev/kmsg") {
		node.KubeletDeps.Recorder, node.KubeletDeps.EventClient = nil, heartbeat.CoreV1()
	}
	return node
}

func staticPods(root string) string {
	return filepath.Join(root, "static-pods")
}

func canRead(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	file.Close()
	return true
}
