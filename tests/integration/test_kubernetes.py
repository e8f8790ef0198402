"""The manifests of packaging/kubernetes: Kubernetes' own schemas take them, their parts fit together, and what they start is what
their probes and Prometheus then find. No cluster: a pod's files and addresses are mapped to this machine's."""

import contextlib
import copy
import re
import shutil
import subprocess
import time

import kubernetes_validate
import pytest
import yaml

from server import BINARY, PATIENCE_S, ROOT, free_port, run_laju
from wire import Http

FOLDER = ROOT / "packaging" / "kubernetes"
SCHEMAS = "1.37"
TOKEN = "a token of the operator's"
VARIANTS = ["deployment", "sidecar"]
POD_IP = "10.244.1.7"


def read(name):
    return list(yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text()))


def of_kind(name, kind):
    return next(document for document in read(name) if document["kind"] == kind)


class Pod:
    """What a variant's Deployment makes: its laju, and the files that it sees there."""

    def __init__(self, name):
        self.deployment = of_kind(name, "Deployment")
        self.template = self.deployment["spec"]["template"]
        self.spec = self.template["spec"]
        containers = self.spec["containers"] + self.spec.get("initContainers", [])
        self.laju = next(container for container in containers if container["name"] == "laju")
        self.ports = {port["name"]: port["containerPort"] for port in self.laju["ports"]}
        volumes = {volume["name"]: volume for volume in self.spec["volumes"]}
        self.mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in self.laju["volumeMounts"]}
        self.config = of_kind(name, "ConfigMap")

    def probes(self):
        return {kind: self.laju[kind] for kind in ("startupProbe", "readinessProbe", "livenessProbe") if kind in self.laju}

    def write(self, home):
        """Fills the volumes below `home`; the arguments with their paths there."""
        for path, volume in self.mounts.items():
            folder = home / path.lstrip("/")
            folder.mkdir(parents=True)
            if "configMap" in volume:
                assert volume["configMap"]["name"] == self.config["metadata"]["name"]
                for name, text in self.config["data"].items():
                    (folder / name).write_text(self.moved(home, text))
            else:
                assert volume["secret"]["secretName"] == "laju-admin"
                (folder / "token").write_text(TOKEN)
        return [self.moved(home, argument) for argument in self.laju["args"]]

    def moved(self, home, text):
        for path in self.mounts:
            text = text.replace(path, f"{home}{path}")
        return text


@pytest.fixture(params=VARIANTS)
def pod(request):
    return Pod(request.param)


# ---- as they stand ----

@pytest.mark.parametrize("name", VARIANTS)
def test_kubernetes_schemas_take_them_to_the_last_field(name):
    for document in read(name):
        kubernetes_validate.validate(document, SCHEMAS, strict=True)
    wrong = copy.deepcopy(of_kind(name, "Deployment"))
    wrong["spec"]["template"]["spec"]["restartPolcy"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, SCHEMAS, strict=True)


def test_labels_and_ports_name_each_other(pod):
    labels = pod.template["metadata"]["labels"]
    assert pod.deployment["spec"]["selector"]["matchLabels"] == labels
    for constraint in pod.spec.get("topologySpreadConstraints", []):
        assert constraint["labelSelector"]["matchLabels"] == labels
    for probe in pod.probes().values():
        assert probe["httpGet"]["port"] in pod.ports


def test_the_service_and_the_budget_are_of_the_deployment_s_pods():
    pod, service, budget = Pod("deployment"), of_kind("deployment", "Service"), of_kind("deployment", "PodDisruptionBudget")
    labels = pod.template["metadata"]["labels"]
    assert service["spec"]["selector"] == budget["spec"]["selector"]["matchLabels"] == labels
    for port in service["spec"]["ports"]:
        assert pod.ports[port["targetPort"]] == port["port"]
    assert {port["name"] for port in service["spec"]["ports"]} == {"http", "admin"}
    assert budget["spec"]["maxUnavailable"] < pod.deployment["spec"]["replicas"]


def test_laju_may_do_nothing_but_serve(pod):
    context = {**pod.spec.get("securityContext", {}), **pod.laju["securityContext"]}
    assert context["runAsNonRoot"] and context["runAsUser"] > 0 and context["readOnlyRootFilesystem"]
    assert not context["allowPrivilegeEscalation"] and context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert all(mount["readOnly"] for mount in pod.laju["volumeMounts"])
    resources = pod.laju["resources"]
    assert resources["limits"] == {"memory": resources["requests"]["memory"]}


def test_a_pod_has_the_time_to_drain(pod):
    sleeps = pod.laju.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    drains_s = int(re.search(r"LAJU_DRAIN_MS (\d+)", (ROOT / "src/server/server.h").read_text()).group(1)) / 1000
    assert sleeps + drains_s + 5 <= pod.spec["terminationGracePeriodSeconds"]


def test_both_ways_to_scrape_find_both_variants(tmp_path):
    monitor = of_kind("podmonitor", "PodMonitor")["spec"]
    (wanted,), (endpoint,) = monitor["selector"]["matchExpressions"], monitor["podMetricsEndpoints"]
    (job,) = read("prometheus")[0]["scrape_configs"]
    assert endpoint["authorization"]["credentials"] == {"name": "laju-admin", "key": "token"}
    assert endpoint["path"] == "/metrics" and endpoint["relabelings"] == [{"targetLabel": "job", "replacement": job["job_name"]}]
    assert job["authorization"]["credentials_file"].endswith("/laju-admin/token")
    keep = job["relabel_configs"][0]
    for variant in VARIANTS:
        pod = Pod(variant)
        assert pod.template["metadata"]["labels"][wanted["key"]] in wanted["values"] and endpoint["port"] in pod.ports
        assert re.fullmatch(keep["regex"], f"{pod.laju['name']};{endpoint['port']}")
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool here")
    # Debian's Prometheus is built without Kubernetes' discovery; all else it reads.
    text = (FOLDER / "prometheus.yaml").read_text()
    pods, config = "kubernetes_sd_configs: [{role: pod}]", tmp_path / "prometheus.yaml"
    assert pods in text
    config.write_text(text.replace(pods, "static_configs: [{targets: [" + POD_IP + ":8082]}]"))
    done = subprocess.run([promtool, "check", "config", "--syntax-only", config], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr


# ---- as they run ----

def test_the_configuration_is_good_and_needs_its_token(pod, tmp_path):
    arguments = pod.write(tmp_path)
    config = tmp_path / arguments[2].removeprefix(f"{tmp_path}/")
    done = run_laju("config", "check", config)
    assert done.returncode == 0, done.stderr
    text = config.read_text()
    config.write_text(re.sub(r"admin:\n *token_file: .*\n", "", text, count=1))
    assert config.read_text() != text
    done = run_laju("config", "check", config)
    assert done.returncode == 1 and "there is no token" in done.stderr


@contextlib.contextmanager
def running(pod, home):
    """The container's laju, on loopback addresses; its ports there by those of the manifest."""
    arguments = pod.write(home)
    config = home / arguments[2].removeprefix(f"{home}/")
    settings = yaml.safe_load(config.read_text())
    listening = {door: at for door, at in settings["listen"].items() if at}  # YAML's own word for `off` is false
    ports = {int(at.rsplit(":", 1)[1]): free_port() for at in listening.values()}
    assert set(pod.ports.values()) <= set(ports)
    text = config.read_text().replace("redis://redis:6379", f"redis://127.0.0.1:{free_port()}")  # nobody is there
    for at in listening.values():
        text = text.replace(at, f"127.0.0.1:{ports[int(at.rsplit(':', 1)[1])]}")
    config.write_text(text)
    with open(home / "log", "wb") as log:
        process = subprocess.Popen([BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process, ports
    finally:
        process.kill()
        process.wait()


def ask(port, path, host, *headers):
    with Http(("127.0.0.1", port)) as http:
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]
        http.send("\r\n".join(lines).encode())
        return http.response()


def probe(pod, ports, probe):
    """As the kubelet does it."""
    port = pod.ports[probe["httpGet"]["port"]]
    try:
        return ask(ports[port], probe["httpGet"]["path"], f"{POD_IP}:{port}").status == 200
    except (OSError, EOFError):
        return False


def test_what_a_pod_starts_answers_its_probes_and_prometheus(pod, tmp_path):
    with running(pod, tmp_path) as (process, ports):
        deadline = time.monotonic() + PATIENCE_S
        while not probe(pod, ports, pod.probes()["startupProbe"]):
            assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.02)
        for each in pod.probes().values():
            assert probe(pod, ports, each)
        admin, bearer = ports[pod.ports["admin"]], f"Authorization: Bearer {TOKEN}"
        assert ask(admin, "/metrics", f"{POD_IP}:8082").status == 401
        scraped = ask(admin, "/metrics", f"{POD_IP}:8082", bearer)
        assert scraped.status == 200 and b"\nlaju_rules 1\n" in scraped.body
        assert ask(admin, "/v1/status", "localhost:8082", bearer).status == 200  # kubectl port-forward
        assert ask(admin, "/v1/status", "laju:8082", bearer).status == 421  # a name is one of admin.hosts, or refused
        with Http(("127.0.0.1", ports[8080])) as client:  # as the service asks
            assert client.check("api", "a").status == 200
        process.terminate()
        assert process.wait(PATIENCE_S) == 0, (tmp_path / "log").read_text()
